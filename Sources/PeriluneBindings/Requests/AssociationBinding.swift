internal import PeriluneLua
internal import PeriluneRecords

/// The native functions for associations and requests with associations.
extension RequestBinding {
    func defineAssociations(in table: LuaTable) throws {
        // (database, origin table (a name or the declaration of a common table), request, name, tag, columns, referenced columns,
        // singular name, number, field names of the origin or nil)
        try defineAssociation("belongs_to", in: table) { call in
            try .belongsTo(
                call.string(4), from: call.origin(2), to: call.request(3), columns: call.optionalStrings(6),
                referenced: call.optionalStrings(7), tag: Int(call.integer(5)), number: Int(call.integer(9)),
                singularName: call.optionalString(8))
        }
        for (name, isPlural) in [("has_one", false), ("has_many", true)] {
            try defineAssociation(name, in: table) { call in
                try .has(
                    call.string(4), many: isPlural, from: call.origin(2), to: call.request(3),
                    columns: call.optionalStrings(6), referenced: call.optionalStrings(7), tag: Int(call.integer(5)),
                    number: Int(call.integer(9)), singularName: call.optionalString(8))
            }
        }
        // (first, second, name, whether it is plural, tag, singular name, number)
        try defineAssociation("through", in: table) { call in
            try .through(
                call.association(1), call.association(2), name: call.string(3), isPlural: call.boolean(4),
                tag: Int(call.integer(5)), number: Int(call.integer(7)), singularName: call.optionalString(6))
        }
        // Returns a list of seven values: the names of the origin's key columns; the names of the matching columns in the first
        // target table; the comparisons for origin values; the collations of the target columns, with false for none; whether the
        // association means only the first of several rows; the comparisons for target values; and the collations of the origin
        // columns.
        try defineValue("columns", in: table) { call in
            let association = try call.association(1)
            let names = association.columnNames
            let result = try call.state.makeTable()
            try result.set(1, names.origin.toLua(in: call.state))
            try result.set(2, names.first.toLua(in: call.state))
            let comparisons = association.keyComparisons
            try result.set(3, comparisons.ofOrigin.map(\.rawValue).toLua(in: call.state))
            try result.set(4, call.collations(association.collations))
            try result.set(5, .boolean(association.meansFirst))
            try result.set(6, comparisons.ofTarget.map(\.rawValue).toLua(in: call.state))
            try result.set(7, call.collations(association.originCollations))
            return .table(result)
        }
        // (association, values of the origin row in the association's columns)
        try defineValue("associated", in: table) { call in
            let request = try Request.associated(call.association(1), withExpressions: call.expressions(2))
            return .userdata(try call.binding.derivables.make(.request(request)))
        }
        try defineAssociation("named", in: table) { call in try call.association(1).named(call.string(2)) }
    }

    func defineAssociationUses(in table: LuaTable) throws {
        try derive("including", in: table) { request, call in
            try request.including(call.association(2), required: call.boolean(3))
        }
        try derive("joining", in: table) { request, call in
            try request.joining(call.association(2), required: call.boolean(3))
        }
        try derive("annotating", in: table) { request, call in
            try request.annotated(withJoined: call.association(2), required: call.boolean(3))
        }
        try derive("including_all", in: table) { request, call in
            try request.includingAll(call.association(2), depth: call.value(3).isNil ? nil : Int(call.integer(3)))
        }
    }

    func defineAggregates(in table: LuaTable) throws {
        // (association, function, expression)
        try define("aggregate", in: table) { call in
            let name = try call.string(2)
            guard let function = AssociationAggregate.Function(rawValue: name) else {
                throw BindingError("argument", "no aggregate `\(name)`")
            }
            return try call.association(1).aggregate(function, call.optionalExpression(3))
        }
    }

    private func defineAssociation(
        _ name: String, in table: LuaTable, _ body: @escaping (RequestCall) throws -> Association
    ) throws {
        try defineValue(name, in: table) { call in
            .userdata(try call.binding.derivables.make(.association(body(call))))
        }
    }
}

extension RequestCall {
    /// Returns the origin table of an association. The first argument of the call is the database.
    func origin(_ position: Int) throws -> TableSchema {
        if case .string = value(position) { return try table(string(position), of: 1, names: 10) }
        return try derivable(position).request.table
    }

    func optionalStrings(_ position: Int) throws -> [String]? {
        if case .table = value(position) { try strings(position) } else { nil }
    }
}

extension RequestCall {
    /// Returns a Lua list of collation names, with false for columns without a collation.
    fileprivate func collations(_ names: [String?]) throws -> LuaValue {
        let list = try state.makeTable()
        for (index, name) in names.enumerated() {
            try list.set(.integer(Int64(index + 1)), name.map { .string(LuaString($0)) } ?? false)
        }
        return .table(list)
    }
}
