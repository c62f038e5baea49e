/// Writing of expressions as SQL tokens.
extension CompilerWalk {
    /// Writes an expression, in parentheses if it binds less tightly than its context requires.
    mutating func expression(_ expression: Expression, _ least: UInt8 = Precedence.any) throws {
        switch expression.kind {
        case .value(let value): self.value(value)
        case .column(let table, let position, let place): try column(table, position, place)
        case .binary(let operation, let a, let b): try binary(operation, a, b, least)
        case .logical(let isAnd, _, _): try logical(expression, isAnd, least)
        case .unary(let operation, let part): try unary(operation, part, least)
        case .parameter(let name): tokens.add(.parameter, name.utf8)
        case .resultColumn(let name): tokens.add(.name, name.utf8)
        case .excluded(let table, let position): tokens.add(.excluded, table.columns[position].sqlName.utf8)
        case .request(let request): try subrequest(request)
        case .exists(let request, let isNegated): try exists(request, isNegated, least)
        case .function(let call): try function(call)
        case .cast(let part, let type): try cast(part, type)
        case .choice(let choice): try self.choice(choice)
        case .fragment(let fragment): try self.fragment(fragment)
        case .row(let parts): try row(parts)
        case .aggregate(let aggregate): try self.aggregate(aggregate, least)
        case .bound(let expression): try bound { walk in try walk.expression(expression, least) }
        default: try special(expression, least)
        }
    }

    private mutating func special(_ expression: Expression, _ least: UInt8) throws {
        switch expression.kind {
        case .between(let a, let low, let high, let isNegated):
            try parenthesized(least > Precedence.equality) { walk in
                try walk.expression(a, Precedence.comparison)
                walk.tokens.add(isNegated ? .notBetween : .between)
                try walk.expression(low, Precedence.bits)
                walk.tokens.add(.and)
                try walk.expression(high, Precedence.bits)
            }
        case .like(let operation, let a, let pattern, let escape, let isNegated):
            try parenthesized(least > Precedence.equality) { walk in
                try walk.expression(a, Precedence.comparison)
                walk.tokens.add(operation == .like ? isNegated ? .notLike : .like : isNegated ? .notGlob : .glob)
                try walk.expression(pattern, Precedence.comparison)
                guard let escape else { return }
                walk.tokens.add(.escape)
                try walk.expression(escape, Precedence.primary)
            }
        case .collation(let part, let name):
            try parenthesized(least > Precedence.collation) { walk in
                try walk.expression(part, Precedence.primary)
                walk.tokens.add(.collate)
                walk.tokens.add(.name, name.utf8)
            }
        default: try membership(expression, least)
        }
    }

    private mutating func parenthesized(_ isNeeded: Bool, _ body: (inout CompilerWalk) throws -> Void) rethrows {
        if isNeeded { tokens.add(.open) }
        try body(&self)
        if isNeeded { tokens.add(.close) }
    }

    // MARK: - Operators

    private mutating func binary(_ operation: BinaryOperator, _ a: Expression, _ b: Expression, _ least: UInt8) throws {
        let precedence = operation.precedence
        if least > precedence { tokens.add(.open) }
        // Comparisons as operands get parentheses for readability.
        try expression(a, operation.isCondition ? Precedence.bits : precedence)
        tokens.add(operation)
        try expression(b, operation.isCondition ? Precedence.bits : precedence + 1)
        if least > precedence { tokens.add(.close) }
    }

    private mutating func unary(_ operation: UnaryOperator, _ part: Expression, _ least: UInt8) throws {
        switch operation {
        case .not:
            try parenthesized(least > Precedence.not) { walk in
                walk.tokens.add(.not)
                let before = walk.isInsideNot
                walk.isInsideNot = true
                try walk.expression(part, Precedence.primary)
                walk.isInsideNot = before
            }
        case .negate, .bitNot:
            try parenthesized(least > Precedence.unary) { walk in
                walk.tokens.add(operation == .negate ? .minus : .tilde)
                try walk.expression(part, Precedence.primary)
            }
        case .isNull, .isNotNull:
            try parenthesized(least > Precedence.equality) { walk in
                try walk.expression(part, Precedence.bits)
                walk.tokens.add(operation == .isNull ? .isNull : .isNotNull)
            }
        }
    }

    /// Writes AND and OR in balanced groups, because a long chain would overflow SQLite's parser stack.
    private mutating func logical(_ expression: Expression, _ isAnd: Bool, _ least: UInt8) throws {
        if case .logical(_, let a, let b) = expression.kind, !a.isLogical(isAnd: isAnd), !b.isLogical(isAnd: isAnd) {
            return try group([a, b], isAnd, least)
        }
        try group(expression.members(isAnd: isAnd)[...], isAnd, least)
    }

    private mutating func group(_ members: ArraySlice<Expression>, _ isAnd: Bool, _ least: UInt8) throws {
        let precedence = isAnd ? Precedence.and : Precedence.or
        if members.count == 1 { return try expression(members[members.startIndex], least) }
        try parenthesized(least > precedence) { walk in
            let size = max(1, (members.count + Self.groupSize - 1) / Self.groupSize)
            var start = members.startIndex
            while start < members.endIndex {
                if start > members.startIndex { walk.tokens.add(isAnd ? .and : .or) }
                let end = min(start + size, members.endIndex)
                try walk.group(members[start..<end], isAnd, precedence + 1)
                start = end
            }
        }
    }

    /// The maximum number of operands in a group. With this size, 100,000 operands need three levels.
    private static let groupSize = 50

    // MARK: - Functions

    private mutating func function(_ call: FunctionCall) throws {
        if !call.orders.isEmpty { return try orderedAggregate(call) }
        tokens.add(.function, call.name.utf8)
        if call.isOfRows { tokens.add(.star) }
        if call.isDistinct { tokens.add(.distinctArgument) }
        try list(call.arguments) { walk, argument in try walk.expression(argument) }
        tokens.add(.close)
        try filter(of: call)
        if let window = call.window { try self.window(window) }
    }

    mutating func filter(of call: FunctionCall) throws {
        guard let filter = call.filter else { return }
        tokens.add(.filterWhere)
        try expression(filter)
        tokens.add(.close)
    }

    private mutating func cast(_ part: Expression, _ type: String) throws {
        tokens.add(.cast)
        try expression(part)
        tokens.add(.as)
        tokens.add(.name, type.utf8)
        tokens.add(.close)
    }

    private mutating func choice(_ choice: Choice) throws {
        tokens.add(.case)
        if let base = choice.base {
            tokens.add(.text, CollectionOfOne(0x20))
            try expression(base, Precedence.primary)
        }
        for branch in choice.branches {
            tokens.add(.when)
            try expression(branch.condition)
            tokens.add(.then)
            try expression(branch.result)
        }
        if let otherwise = choice.otherwise {
            tokens.add(.else)
            try expression(otherwise)
        }
        tokens.add(.end)
    }

    private mutating func fragment(_ fragment: SQLFragment) throws {
        tokens.add(.open)
        try pieces(of: fragment)
        tokens.add(.close)
    }

    mutating func pieces(of fragment: SQLFragment) throws {
        for piece in fragment.pieces {
            switch piece {
            case .text(let text): tokens.add(.text, text)
            case .comma: tokens.add(.comma)
            case .argument(let argument): try expression(argument, Precedence.primary)
            }
        }
    }

    private mutating func row(_ parts: [Expression]) throws {
        tokens.add(.open)
        try list(parts) { walk, part in try walk.expression(part) }
        tokens.add(.close)
    }
}

extension Expression {
    /// Returns the operands of a chain of AND or OR, in order.
    func members(isAnd: Bool) -> [Expression] {
        var members: [Expression] = []
        var pending = [self]
        while let expression = pending.popLast() {
            if case .logical(isAnd, let a, let b) = expression.kind {
                pending.append(b)
                pending.append(a)
            } else {
                members.append(expression)
            }
        }
        return members
    }
}
