--- Names from other libraries, other languages and earlier versions, with the calls to use here instead.
--
-- Each section belongs to one kind of object. A key lists names that have the same replacement, separated by spaces, in snake_case:
-- `findBy` and `find_by` are found alike. A value completes the message "no method `find_by`; ". A section may be continued in another one.

local errors = require "perilune.native.errors"

local transactions = "use db:write(function(db) ... end), which commits at its end and rolls back if the function raises an error"
local failures = "a failure raises an error object with the fields `message`, `kind`, `code` and `sql`; catch it with pcall(f)"
local own_rows = "use filter{ column = value }; a condition may also be an expression, filter(Class.c.total:gt(5)), or SQL with arguments, "
  .. "filter(\"total > ?\", 5)"
local including = "use including_all(Class.association) for lists, including_optional(Class.association) for single records"
local joining = "use joining_required(Class.association) or joining_optional(Class.association) to filter and select by associated rows, "
  .. "including_required(...) to fetch them too, and join(Other, condition) for tables without an association"
local validations = "define function Class:validate() ... self:invalid(\"column\", \"message\") end"
local hooks = "define a hook as a method: function Class:will_save(db) ... end; the moments are will_, did_ and around_ with insert, update, save "
  .. "and delete"
local counting = "use fetch_count(); column:count() and perilune.count() count within a selection"
local changing = "use record:update_changes{ column = value }, or assign fields (record.column = value) and call record:save()"
local fields = "fields are read and assigned by name, record.column or record[name]; pairs(record) visits all of them"
local own_state = "record:has_changes() is true for unsaved changes, record:exists() if the row exists"
local connectives = "combine conditions with `&` and `|`, negate them with `~`"
local columns = "use t:column(name, type), followed by its properties: t:column(\"name\", \"text\"):not_null():default(\"\")"
local typed = "use t:column(name, \"%s\")"
local timestamps = "use t:column(\"created_at\", \"datetime\"):default_sql(\"CURRENT_TIMESTAMP\"), and the class option timestamps = true"
local ending = "use %s:cancel()"
local queue_of_jobs = "a queue of jobs is perilune.jobs(name)"
local keeping = "a value with a name is a row: db:create_table once, then Class:upsert{ name = ..., value = ... } and Class:fetch_one(name)"

local sections = {}

--- For each section, the sections to search after it.
local continued = { class = { "request" }, association = { "request" } }

-- Classes and requests ----------------------------------------------------------------------------------------------------------

sections.request = {
  ["gt ge lt le gte lte"] = "use filter(Class.c.column:gt(value)), likewise ge, lt and le",
  ["as_at at_time versions_at at_version"] = "use perilune.history(Class):install(db), after which Class:as_of(time) gives the rows at a past time",
  ["deleted only_deleted only_trashed trashed archived only_archived"] = "use Class:unscoped():filter(Class.c.deleted_at:is_not_null())",
  ["without filter_not where_neither unless none_of"] = "use filter(~condition), as in filter(~Class.c.name:eq(\"x\")), or filter(Class.c.name:ne(\"x\"))",
  ["observe_count observe_value observe_first observe_one"] = "use observe(function(records) ... end), or db:observe(function(db) return request:fetch_count(db) end, callback)",
  ["update"] = "use update_all{ column = value }",
  ["nulls_last nulls_first"] = "use order(Class.c.column:nulls_last()), or :desc():nulls_last()",
  ["dicts as_dicts mappings as_hashes"] = "use fetch_all() of select(\"column\", ...), whose rows have the columns as fields",
  ["in_groups_of in_slices"] = "use in_batches(size)",
  ["set_by_id update_by_id update_by_pk"] = "use filter_key(key):update_all{ column = value }",
  ["index_by key_by fetch_map fetch_dictionary fetch_dict fetch_hash to_map as_map"] =
    "use a loop: for key, value in request:select(\"key\", \"value\"):tuples() do map[key] = value end",
  ["as_cte to_cte"] = "use perilune.common_table(name, request)",
  ["excluding without_records"] = "use filter(~Class.c.id:is_in{ 1, 2 })",
  ["missing where_missing without_any"] = "use filter(Class.association:is_empty())",
  ["associated where_associated with_any"] = "use filter(Class.association:exists())",
  ["strict_loading noload lazyload raiseload lazy_load"] = "associated rows are never loaded by themselves; use including_all(Class.association) to fetch them",
  ["dates datetimes date_trunc"] = "use select(Class.c.column:strftime(\"%Y-%m\")):distinct():fetch_values()",
  ["as_request conditions where rewhere filter_by find_all find_many where_not select_where filter_where and_where find_where query_by having_values"] = own_rows,
  ["exclude not_ reject where_is_not"] = "use filter(~condition), as in filter(~Class.c.name:eq(\"x\")), or filter(Class.c.name:ne(\"x\"))",
  ["or_ or_where either where_or any_of"] = "use filter(first | second) with two expressions, or request | request",
  ["and_ merge all_of"] = "call filter once more, or combine expressions with `&`",
  ["where_in in_ is_in where_key where_id"] = "use filter{ column = { 1, 2 } }, or filter(Class.c.column:is_in{ 1, 2 })",
  ["where_between between"] = "use filter(Class.c.column:between(low, high))",
  ["where_like like contains starts_with ends_with"] = "use filter(Class.c.column:contains(text)), or :starts_with, :ends_with, :like(pattern)",
  ["where_null is_null where_nil"] = "use filter{ column = perilune.null }, or filter(Class.c.column:is_null())",
  ["where_not_null where_is_not_null where_not_nil where_present exclude_null"] = "use filter(Class.c.column:is_not_null())",
  ["where_exists"] = "use filter(perilune.exists(request)), or filter(Class.association:exists())",
  ["where_raw raw_where filter_sql sql_filter filter_raw raw_filter where_sql"] = "use filter(sql, ...)",
  ["first first_or_none one one_or_none one_or_nil scalar_one scalar_one_or_none find_first find_one get_one take_one single first_or_nil "
    .. "first_or_default peek head fetch_first fetch_optional next only_one sole find_sole_by fetch"] =
    "use fetch_one(), which returns nil if no row matches; find() raises, and limit(count):fetch_all() returns several rows",
  ["first_or_fail find_or_fail first_or_raise get_or_404 fetch_one_or_raise find_unique_or_throw find_first_or_throw find_or_raise"] =
    "use find(key), or find() on a request; both raise if no row matches, as fetch_one() does not",
  ["earliest oldest"] = "use order(\"column\"):fetch_one()",
  ["last final latest fetch_last newest find_last"] =
    "use reversed():fetch_one() on an ordered request, or order(Class.c.column:desc()):fetch_one()",
  ["get find_by find_by_id find_by_pk get_by get_by_id get_or_none get_or_nil find_unique by_id by_key load lookup fetch_by_key fetch_by_id find_by_key pk "
    .. "get_by_pk find_row with_key with_id with_pk fetch_key"] =
    "use fetch_one(key), which returns nil if no row has the key, or find(key), which raises; for other columns filter{ column = value }:fetch_one()",
  ["count_request as_count"] = "use fetch_count(); an observation of a count is db:observe(function(db) return request:fetch_count(db) end, f)",
  ["count size length len count_all count_rows get_count row_count num_rows tally number_of_rows total_count"] = counting,
  ["count_distinct distinct_count count_unique unique_count"] = "use select(\"column\"):distinct():fetch_count()",
  ["count_by count_values histogram value_counts frequencies"] = "use group(\"column\"):select(\"column\", perilune.count():as(\"count\")):fetch_all()",
  ["group_by_hour group_by_day group_by_date group_by_week group_by_month group_by_year group_by_period"] =
    "use group(Class.c.column:strftime(\"%Y-%m\")), with %d for days and %Y alone for years",
  ["group_by grouped by_group partition"] = "use group(\"column\")",
  ["having_"] = "use having(condition)",
  ["order_by_primary_key order_by_key order_by sort sort_by ordered reorder sorted orderby order_desc order_asc arrange sorted_by order_by_desc order_by_asc"] =
    "use order(\"column\"), or order(Class.c.column:desc()); then_order adds a column",
  ["reverse reverse_order desc descending backwards inverted"] = "use order(Class.c.column:desc()), or reversed() on an ordered request",
  ["asc ascending"] = "use order(\"column\")",
  ["random shuffle sample order_random"] = "use order(\"random()\")",
  ["skip start"] = "use limit(count, offset), or offset(count)",
  ["take top limit_to limited per head_rows first_n slice fetch_some"] = "use limit(count):fetch_all(); page(number, size) for pages",
  ["paginate paginated paginator pages page_by per_page cursor_paginate paged fetch_page get_page"] = "use page(number, size), or page_after(cursor, size)",
  ["avg mean fetch_average average_of"] = "use average(\"column\")",
  ["maximum biggest largest highest fetch_max max_of"] = "use max(\"column\")",
  ["minimum smallest lowest fetch_min min_of"] = "use min(\"column\")",
  ["sum_of add_up fetch_sum summarize"] = "use sum(\"column\")",
  ["aggregate calculate"] = "use sum, average, min, max or fetch_count, or select(Class.c.total:sum():as(\"sum\")):fetch_one() for several",
  ["any has_any is_present present some has_rows any_rows contains_row is_not_empty not_empty"] = "use exists()",
  ["empty is_none blank is_blank no_rows not_exists"] = "use is_empty()",
  ["many"] = "use fetch_count() > 1",
  ["fetch_each fetch_rows fetch_iter fetch_stream fetch_lazy next_row for_loop each iter iterate iterator for_each find_each stream cursor fetch_cursor ipairs items nrows each_row each_record walk"] =
    "use for record in request:rows() do ... end",
  ["map collect transform reduce select_map filter_map"] =
    "use fetch_all() and a loop, `for record in request:rows() do`, or pluck(\"column\") for the values of a column",
  ["to_list to_a to_table to_array all_records fetch_list list fetchall result results records run execute exec get_all load_all read_all "
    .. "find_all_records as_list fetch_many fetch_records select_all"] = "use fetch_all()",
  ["values values_list pick scalars column_values fetch_column field list_of get_column fetch_pluck select_values scalar scalar_all "
    .. "fetch_scalars value"] =
    "use pluck(\"column\"); or select(\"column\"):fetch_values(), and fetch_value() for one value",
  ["ids primary_keys pks select_primary_key fetch_ids keys"] = "use pluck(\"id\")",
  ["only defer columns fields project projection select_only pick_columns returning_columns with_columns add_columns"] =
    "use select(\"column\", ...) for rows with these columns; the option `fields` of perilune.record makes columns lazy",
  ["add_select select_raw select_sql extra annotate annotated annotate_with add_column_expression include_count with_count "
    .. "alias_column"] =
    "use annotated_with(expression:as(\"name\")) to add a column, select(...) to replace the columns",
  ["distinct_on uniq unique uniq_by dedupe"] = "use distinct()",
  ["with with_"] = including .. ", and perilune.common_table(name, request) for WITH in SQL, which requests that use the table begin with",
  ["includes include including eager eager_load eager_load_all prefetch prefetch_related select_related joinedload selectinload "
    .. "subqueryload load_with options populate preload_all fetch_with with_related related include_all with_relations contains_eager "
    .. "includes_all joined_load select_in_load including_associations"] = including,
  ["insert_or_ignore insert_ignore create_or_ignore insert_if_missing insert_if_absent insert_if_not_exists insert_unless_exists"] = "use Class:insert({ column = value }, { on_conflict = \"ignore\" })",
  ["full_text match_against"] = "use matching(pattern) on the class of a full-text table (db:create_fts5)",
  ["callback callbacks add_callback"] = hooks,
  ["joins inner_join joined join_table joining join_related"] = joining,
  ["left_joins left_outer_join left_outer_joins outer_join outerjoin leftjoin"] = joining .. "; left_join(Other, condition)",
  ["create_with new_record initialize"] = "use Class{ column = value }:insert(), or Class:insert{ column = value }",
  ["find_or_create_by get_or_create first_or_create find_or_create find_or_new find_create fetch_or_create fetch_or_insert get_or_insert "
    .. "insert_or_find find_or_add"] = "use find_or_insert({ key columns }, { other columns })",
  ["find_or_initialize_by first_or_initialize find_or_initialize first_or_new get_or_build"] = "use find_or_build({ key columns }, { other columns })",
  ["upsert_and_fetch on_conflict on_conflict_do_nothing on_conflict_do_update update_or_create create_or_update insert_or_update put set_or_insert upsert_one replace_one insert_or_replace store"] =
    "use Class:upsert{ column = value }; upsert_all for many rows",
  ["bulk_create create_all bulk_insert insert_many insert_multiple add_all batch_insert create_many bulk_save bulk_save_objects save_all insert_each "
    .. "import_all insert_rows bulk_add multi_insert insert_batch"] = "use Class:insert_all{ { column = value }, ... }",
  ["bulk_upsert upsert_many insert_or_update_all upsert_rows merge_all"] = "use Class:upsert_all({ { column = value }, ... }, { target = \"column\" })",
  ["bulk_update update_many modify update_each change_all update_rows increment_all update_where set_all bulk_change change"] =
    "use update_all{ column = value }; values may be expressions, update_all{ total = Class.c.total + 1 }",
  ["destroy_all delete_by delete_many remove_all bulk_delete truncate delete_where wipe erase_all delete_rows drop_all purge del"] =
    "use delete_all(), as in filter{ column = value }:delete_all()",
  ["set"] = "use update_all{ column = value }; record:association():replace{ other, ... } for links",
  ["clear"] = "use delete_all(), as in filter{ column = value }:delete_all(); record:association():replace{} removes links and keeps the rows",
  ["increment_counter update_counters increment inc decrement dec add_to"] = "use update_all{ column = Class.c.column + 1 }",
  ["to_sql sql_text as_sql query_string toString to_string statement_text str debug_sql compile print_sql"] = "use sql(), or print(request)",
  ["median percentile stddev variance mode quantile"] =
    "SQLite has no such aggregate; define it with db:add_aggregate(name, { ... }), and use select(perilune.fn.name(Class.c.column)):fetch_value()",
  ["analyze query_plan explain_query_plan plan"] = "use explain()",
  ["union_of concat combine"] = "use union(other), or union_all(other)",
  ["append"] = "use insert{ column = value } or add(record) on the request of an association, and union(other) for the rows of two requests",
  ["difference minus subtract"] = "use except(other)",
  ["intersection"] = "use intersect(other)",
  ["from from_table from_query from_subquery"] = "use perilune.common_table(name, request), or filter with a request: Class.c.id:is_in(request)",
  ["subquery scalar_subquery as_subquery"] = "use the request itself where a value or list is expected: Class.c.id:is_in(request:select(\"id\"))",
  ["with_cte cte with_recursive common_table"] = "use perilune.common_table(name, request)",
  ["as alias as_ named"] = "use aliased(name)",
  ["no_wait lock with_lock for_update lock_for_update with_for_update readonly"] =
    "SQLite has no row locks: use db:write(function(db) ... end), which excludes other writers; the class option lock_version finds stale records",
  ["filter_keys in_bulk find_all_by_id find_by_ids get_many where_ids find_keys fetch_keys filter_ids get_all_by_id multi_get"] =
    "use filter_key{ 1, 2 }, or find{ 1, 2 }",
  ["watch subscribe track on_change listen live live_query publisher values_observation value_observation reactive stream_changes"] =
    "use observe(function(records) ... end)",
  ["in_groups find_in_batches batch batches each_batch each_slice chunk chunks chunked in_chunks yield_per"] =
    "use in_batches(size), as in for records in request:in_batches(100) do",
  ["unscope without_scope unfiltered with_deleted with_trashed with_archived"] = "use Class:unscoped()",
  ["match search_text full_text_search fts search"] = "use matching(pattern) with a full-text table, or filter(Class.c.column:contains(text))",
  ["nearest_neighbors knn similar"] = "use nearest(column, vector, count)",
  ["over window partition_by"] = "use column:sum():over{ partition_by = \"column\", order_by = \"column\" } in select",
  ["push append_all insert_link attach link connect associate"] = "use record:association():add(other)",
  ["detach unlink disconnect dissociate"] = "use record:association():remove(other)",
  ["set_links sync assign_links set_all_links"] = "use record:association():replace{ other, ... }",
  ["new_entry make make_new"] = "use build{ column = value } on record:association(), or Class{ column = value }",
  ["add_new create"] = "use insert{ column = value }",
  ["prepared prepare_statement bake"] = "use prepare()",
  ["clone dup copy"] = "requests are immutable and need no copy; each method returns a new request",
  ["validate is_valid"] = validations,
  ["async then await"] = "the functions that fetch return their results directly; perilune.spawn runs a function concurrently",
  ["print inspect dump"] = "use print(request) for its SQL, and fetch_all() for its records",
  ["remove_order unorder without_order"] = "use unordered()",
  ["returning returns"] = "use the option `returning` of insert, update_all and delete_all",
  ["second third nth"] = "use limit(1, 1):fetch_one(), whose second argument is the number of skipped rows",
  ["delete remove_rows"] = "use delete_all(); links of an association are removed by record:association():remove(other)",
  ["using"] = "pass the database as the first argument, as in fetch_all(other)",
  ["or_filter filter_or"] = "use request | Class:filter{ column = value }, or filter(first | second) with two expressions",
}

sections.class = {
  ["extending include_module concerning mixin"] = "use Class:extend(), or define function Class.requests:name() ... end",
  ["insert_and_fetch inserted_record new_and_save insert_one store_one make_and_save insert_into insert_row create_one"] = "use Class:insert{ column = value }",
  ["new init make instantiate construct record initialize new_record"] = "use Class{ column = value }, then :insert() or :save()",
  ["find_by_sql raw from_statement select_raw query_raw raw_query sql_query fetch_sql by_sql"] =
    "use Class:from_sql(sql, ...):fetch_all(), or Class:fetch_all(sql, ...)",
  ["query objects select_query q session manager repository all_query"] =
    "a class is itself a request: Class:filter{ column = value }:order(\"column\"):fetch_all()",
  ["destroy delete_by_id remove_by_id delete_by_pk delete_key delete_row erase"] = "use Class:delete_one(key), or filter{ column = value }:delete_all()",
  ["update_by_id update_one modify_one update_row update_where_id"] = "use Class:find(key):update_changes{ column = value }, or filter_key(key):update_all{ column = value }",
  ["exists_by has contains has_key"] = "use Class:exists(key), or filter{ column = value }:exists()",
  ["transaction begin atomic in_transaction write"] = transactions,
  ["has_and_belongs_to_many many_to_many many_many has_many_through belongs_to_many manytomany many2many through"] =
    "use Class:has_many(Target, { through = Class.links, using = Link.target })",
  ["relationship foreign_key references references_one foreign_key_field"] = "use Class:belongs_to(Target) for the side with the foreign key, Class:has_many(Target) for the other",
  ["one_to_many hasmany has_many_of one_many children"] = "use Class:has_many(Target)",
  ["one_to_one hasone has_one_of"] = "use Class:has_one(Target)",
  ["belongsto belongs many_to_one parent"] = "use Class:belongs_to(Target)",
  ["scope named_scope scopes define_scope add_scope"] = "define function Class.requests:name(...) return self:filter{ ... } end",
  ["default_scope"] = "define function Class.requests:default() return self:filter{ ... } end",
  ["validates validates_presence_of validates_uniqueness_of validates_length_of validates_format_of validates_inclusion_of validate_presence validator "
    .. "add_validation validates_numericality_of validation validations rules on_validate"] = validations,
  ["before_save after_save before_create after_create before_update after_update before_destroy after_destroy before_insert after_insert "
    .. "before_delete after_delete before_validation after_commit after_rollback around_save_hook after_find after_initialize hook add_hook on callbacks "
    .. "pre_save post_save on_save on_insert on_update on_delete after_load before_remove after_remove before after hooks"] = hooks,
  ["enum"] = "use the class option types = { column = perilune.enum{ ... } }",
  ["default default_value defaults default_values set_default set_defaults"] = "use the class option defaults = { column = value }",
  ["serialize attribute attributes cast types set_types column_type"] = "use the class option types = { column = type }",
  ["columns column_names attribute_names columns_hash fields schema table_info describe field_names get_columns __columns__"] =
    "use db:columns(\"table\"); Class.c.name is the expression of a column",
  ["database_table_name name table_name tablename table get_table_name __tablename__ __table__ name_of_table"] = "perilune.record(\"table\") names the table; tostring(Class) shows it",
  ["primary_key pk key_name id_column key"] = "use db:primary_key(\"table\"), and the class option primary_key to set it",
  ["connection db database bind set_database connect establish_connection"] =
    "classes use the default database; pass another as the first argument, Class:fetch_all(other), or use perilune.with{ database = other }",
  ["create_table migrate sync drop_table automigrate sync_table"] = "use db:create_table(\"table\", function(t) ... end) in a migration",
  ["inherit subclass derive class"] = "use Class:extend(options)",
  ["from_table from_json from_hash from_dict load_from decode from_values"] = "use Class{ column = value }, or Class:from_row(row)",
  ["to_json as_json serialize_json"] = "use perilune.json.encode(records)",
  ["c_ col column field cols"] = "use Class.c.name for a column",
  ["acts_as_paranoid soft_delete paranoid"] = "use the class option soft_delete = \"deleted_at\"",
  ["timestamps record_timestamps"] = "use the class option timestamps = true",
  ["attr_accessor method define add_method methods prototype"] = "define methods with function Class:name() ... end",
  ["refresh_all reload"] = "fetch the records again, or use record:refresh()",
  ["bulk transactionally"] = "use insert_all, upsert_all, update_all or delete_all",
  ["observe_changes after_change"] = "use Class:observe(function(records) ... end), or db:observe_transactions{ tables = { Class }, on_change = ... }",
  ["last_insert_id inserted_id"] = "insert returns the record, whose key is set: Class:insert{ ... }.id",
  ["update_all_columns"] = "use record:update()",
}

-- Records -------------------------------------------------------------------------------------------------------------------------

sections.record = {
  ["full_clean clean_fields"] = "use record:validation_errors(), an empty list if the record is valid; save, insert and update validate too",
  ["model_to_dict"] = "pairs(record) visits all fields; perilune.json.encode(record) returns JSON text",
  ["restore_attributes rollback_changes undo_changes"] = "use record:refresh(), which reads the row again",
  ["set_column put_all assign_all bulk_update touch_updated_at touch_timestamps update_attributes update_attribute update_column update_columns assign_attributes assign set set_attributes update_fields write_attribute patch merge "
    .. "set_field set_value put change modify update_with change_to update_values fill edit save_changes set_all update_one update_if_changed update_only"] = changing,
  ["discard_record destroy remove erase delete_instance destroy_record unlink delete_self"] = "use record:delete()",
  ["really_destroy hard_delete force_delete destroy_fully"] = "use record:delete_forever()",
  ["untrash revive undelete unremove recover"] = "use record:restore()",
  ["freshen reload_from_db sync_with_db undo revert rollback restore_previous discard_changes reset_changes update_and_fetch reload refetch refresh_from_db fetch re_read reread sync reset load fetch_again"] = "use record:refresh()",
  ["save_or_fail save_and_refresh insert_and_fetch save_and_fetch create store commit flush write add insert_record persist"] = "use record:insert(), or record:save() to update or insert",
  ["save_or_update insert_or_update put_record replace upsert_record merge_record"] = "use record:upsert(), or record:save()",
  ["field_changed did_change is_changed_field changed is_changed dirty is_dirty modified is_modified has_changed unsaved saved_changes is_unsaved has_unsaved_changes has_database_changes"] =
    "use record:has_changes()",
  ["changed_columns_list changed_attributes changed_fields dirty_fields previous_changes changes_to_save changed_columns database_changes diff get_changes"] =
    "use record:changes(), as in record:changes().name.old; a changed column has the values `old` and `new`",
  ["is_in_database is_stored stored was_new just_created is_deleted was_deleted new_record is_new_record is_new persisted is_persisted destroyed is_destroyed saved is_saved in_database is_inserted exists_in_database"] = own_state,
  ["errors_on error_for is_valid_record validate_or_fail run_validations valid_for valid is_valid errors validate_record get_errors validations check_valid error_messages full_messages is_invalid"] =
    "use record:validation_errors(), an empty list if the record is valid; save, insert and update validate too",
  ["add_error errors_add set_error error add_validation_error"] = "use self:invalid(\"column\", \"message\") in function Class:validate()",
  ["touch"] = "use record:update_changes{ updated_at = perilune.now() }; the class option timestamps = true does so at each update",
  ["toggle_field negate toggle"] = "use record:update_changes{ column = not record.column }",
  ["increment_by decrement_by subtract increment decrement inc dec incr increment_column add_to"] = "use record:update_changes{ column = record.column + 1 }, or, for counting without a "
    .. "read, Class:filter_key(record.id):update_all{ column = Class.c.column + 1 }",
  ["to_json as_json json encode serialize dump tojson"] = "use perilune.json.encode(record)",
  ["to_lua_table to_array get_all_fields field_names column_names keys each_field fields_of to_table to_dict as_dict to_hash attributes values as_table to_h to_map to_lua fields get_attributes dict items data row raw to_row columns columns_and_values"] =
    "pairs(record) visits all fields; record:copy() returns another record, perilune.json.encode(record) JSON text",
  ["clone_record duplicate_record replicate deep_clone as_new dup clone deep_copy duplicate copy_with"] = "use record:copy(changes)",
  ["read_attribute get get_attribute attribute value field get_value column fetch_field get_field"] = fields,
  ["pairs iter each ipairs"] = fields,
  ["get_primary_key primary_key_value pk_value id_value has_key primary_key key get_id pk get_key key_values identifier"] = "read the column of the key, as in record.id",
  ["table class model get_class type class_name table_name get_table"] = "Class:is(record) is whether it is a record of a class",
  ["load_all fetch_association preload_association with_association related_records load_association load_related preload with include including fetch_related load_relation"] =
    "use record:association():fetch_all(), or Class:preload({ record }, Class.association)",
  ["is_loaded loaded association_loaded is_fetched fetched"] = "use record:included(\"association\")",
  ["get_association children parent siblings related association build_association get_related association_for request"] = "use record:association(), a request for the associated rows",
  ["create_association create_related"] = "use record:association():insert{ column = value }",
  ["lock_record transaction lock with_lock"] = transactions,
  ["previous_version versions_of audit_log versions paper_trail audits revisions"] = "use record:history()",
  ["update_all"] = "use record:update_changes{ column = value }; update_all changes all rows of a request",
  ["mark_as_deleted archive soft_delete trash discard"] = "use record:delete() with the class option soft_delete = \"deleted_at\"",
  ["will_save did_save before_save after_save"] = hooks,
  ["save_nested nested_save"] = "use Class:save_nested(values)",
  ["is_a instance_of is_instance"] = "use Class:is(record)",
  ["date date_components string integer float boolean"] =
    "a field has the type of its column; use record.column",
  ["is_equal equals_to same_as hash_code database_equals equals eq same"] = "compare the keys, as in first.id == second.id",
  ["observe_changes on notify observe watch subscribe on_change"] = "use Class:filter_key(record.id):observe(function(records) ... end)",
  ["link_to associate_with attach link add_to_association"] = "use record:association():add(other)",
  ["delete_all"] = "use record:delete(), or record:association():delete_all()",
  ["fetch_all fetch_many all find_all fetch_list"] = "use record:association():fetch_all() for associated rows, Class:fetch_all() for all rows",
  ["fetch_one fetch_first first find_one find find_by"] = "use record:association():fetch_one() for an associated row, Class:find(key) for another row",
  ["fetch_count count count_all size length len"] = "use record:association():fetch_count() for associated rows, Class:fetch_count() for all rows",
  ["filter where order limit select group rows having joining_required fetch_values fetch_value pluck sum min max average"] =
    "use record:association() for a request of the associated rows, as in record:association():filter{ column = value }:fetch_all()",
  ["save_without_validation insert_without_validation update_without_validation skip_validation"] = "validation is part of every write; db:execute(sql, ...) writes without it",
}

--- Patterns of names with another name in them: a column, unless the third element allows any name.
local patterns = {
  record = {
    { "^(.+)_was$", "use record:changes().%s, which has the values `old` and `new` if the column has changed" },
    { "^(.+)_changed$", "use record:changes().%s ~= nil" },
    { "^(.+)_before_last_save$", "use record:changes().%s.old before saving, as in function Class:around_update(write)", true },
    { "^get_(.+)$", "read the field: record.%s" },
    { "^set_(.+)$", "assign the field: record.%s = value", true },
    { "^is_(.+)$", "read the field: record.%s" },
    { "^update_(.+)$", "use record:update_changes{ %s = value }" },
    { "^increment_(.+)$", "use record:update_changes{ %s = record.%s + 1 }" },
    { "^create_(.+)$", "use record:%s():insert{ column = value } for the association", true },
    { "^build_(.+)$", "use record:%s():build{ column = value } for the association", true },
    { "^add_(.+)$", "use record:association():add(other) to link a record, or record:association():insert{ column = value }", true },
    { "^remove_(.+)$", "use record:association():remove(other) to remove a link, or other:delete()", true },
    { "^fetch_(.+)$", "use record:%s():fetch_one() for an association with one record, :fetch_all() for a list", true },
    { "^load_(.+)$", "use record:%s():fetch_one() for an association with one record, :fetch_all() for a list", true },
    { "^before_(.+)$", hooks, true }, { "^after_(.+)$", hooks, true },
    { "^(history)$", "the class has no history; use perilune.history(Class):install(db) to keep one", true },
  },
  request = {
    { "^find_by_(.+)$", "use filter{ %s = value }:fetch_one()", true },
    { "^find_all_by_(.+)$", "use filter{ %s = value }:fetch_all()", true },
    { "^fetch_by_(.+)$", "use filter{ %s = value }:fetch_one()", true },
    { "^get_by_(.+)$", "use filter{ %s = value }:fetch_one()", true },
    { "^where_(.+)$", "use filter{ %s = value }" },
    { "^filter_by_(.+)$", "use filter{ %s = value }" },
    { "^filter_(.+)$", "use filter{ %s = value }" },
    { "^order_by_(.+)$", "use order(\"%s\")" },
    { "^sort_by_(.+)$", "use order(\"%s\")" },
    { "^group_by_(.+)$", "use group(\"%s\")" },
    { "^count_by_(.+)$", "use group(\"%s\"):select(\"%s\", perilune.count():as(\"count\"))" },
    { "^sum_of_(.+)$", "use sum(\"%s\")" },
    { "^exists_by_(.+)$", "use filter{ %s = value }:exists()" },
    { "^delete_by_(.+)$", "use filter{ %s = value }:delete_all()" },
    { "^before_(.+)$", hooks, true }, { "^after_(.+)$", hooks, true },
    { "^validates?_(.+)$", validations, true },
  },
  database = {
    { "^(.+)$", "use perilune.record(\"%s\") for the rows of the table" },
  },
  table = {
    { "^add_(.+)$", columns, true },
  },
}

-- Expressions -----------------------------------------------------------------------------------------------------------------------

sections.column = {
  ["has_key has_member json_has contains_key json_exists"] = "use column:json_type(\"name\"):is_not_null(), which is true if the member exists",
  ["json_contains contains_json json_each json_overlaps has_element array_contains"] = "use column:json(\"name\"):eq(value) for a member, and "
    .. "filter(\"EXISTS (SELECT 1 FROM json_each(column, '$.name') WHERE value = ?)\", value) for an element of an array",
  ["equals equal is_equal is_equal_to equal_to eql same_as eq_ equals_to"] = "use column:eq(value)",
  ["not_equal neq not_eq not_equals is_not_equal differs unequal not_equal_to distinct_from"] = "use column:ne(value)",
  ["gte greater_or_equal greater_than_or_equal at_least greater_equal greater_than_or_equal_to from since geq"] = "use column:ge(value)",
  ["lte less_or_equal less_than_or_equal at_most less_equal less_than_or_equal_to up_to until_ leq"] = "use column:le(value)",
  ["greater_than greater more_than above after over_ bigger_than later_than"] = "use column:gt(value)",
  ["less_than less lower_than below before smaller_than earlier_than under"] = "use column:lt(value)",
  ["is_nil null isnull is_null_ nil_ is_none none missing"] = "use column:is_null()",
  ["not_null is_not_nil notnull not_nil isnot_null is_notnull is_present present is_set"] = "use column:is_not_null()",
  ["isnot is_distinct_from"] = "use column:is_not(value)",
  ["in_ in_list one_of any_of is_one_of is_any_of within in_array inlist is_in_list included_in member_of"] = "use column:is_in{ 1, 2 }",
  ["not_in notin notin_ is_none_of none_of not_in_ nin not_in_list"] = "use column:is_not_in{ 1, 2 }",
  ["ilike icontains iregex like_ilike ilike_ like_ignore_case"] = "use column:like(pattern) or column:contains(text), which ignore the case of ASCII letters",
  ["startswith starts begins_with istartswith has_prefix prefix start_with"] = "use column:starts_with(text)",
  ["endswith ends iendswith has_suffix suffix end_with"] = "use column:ends_with(text)",
  ["has includes include"] = "use column:contains(text) for a part of a text, and filter(\"EXISTS (SELECT 1 FROM json_each(column) WHERE value = ?)\", "
    .. "value) for an element of a JSON array",
  ["containing contains_text substring_of find"] = "use column:contains(text)",
  ["not_like unlike not_ilike does_not_match not_contains"] = "use ~column:like(pattern)",
  ["matches regex rlike regexp_match pattern similar_to matching"] = "use column:glob(pattern) or column:like(pattern); column:regexp(pattern) calls "
    .. "the function `regexp` of db:add_function, and column:match(pattern) is for full-text tables",
  ["descending reverse reversed order_desc desc_"] = "use column:desc()",
  ["ascending asc_ order_asc ordered"] = "use column:asc()",
  ["nullsfirst"] = "use column:nulls_first()", ["nullslast"] = "use column:nulls_last()",
  ["label alias as_ named rename aliased name"] = "use column:as(name)",
  ["concat concatenate append join_text"] = "use `..`, as in column .. \" text\"",
  ["sub"] = "use column:substr(first, count) for a part of a text, `-` for a difference",
  ["median percentile stddev variance mode quantile"] =
    "SQLite has no such aggregate; define it with db:add_aggregate(name, { ... }), and call perilune.fn.name(column)",
  ["diff difference days_between date_diff datediff days_since timestampdiff"] =
    "use column:julianday() - other:julianday() for a difference in days",
  ["age years_since years_until years_between age_in_years"] =
    "use (perilune.now():format(\"%Y%m%d\") - column:strftime(\"%Y%m%d\")) // 10000 for whole years",
  ["start_of beginning_of trunc_to"] = "use column:date(\"start of month\"); likewise day and year",
  ["add_days plus_days date_add add_interval"] = "use column:date(\"+7 days\"), or column:datetime(\"+7 days\") to keep the time",
  ["sql to_sql"] = "tostring(expression) shows the SQL",
  ["add plus"] = "use `+`, as in column + 1", ["minus subtract"] = "use `-`, as in column - 1",
  ["mul times multiply multiplied_by"] = "use `*`, as in column * 2", ["div divide divided_by"] = "use `/`, as in column / 2",
  ["modulo remainder"] = "use column:mod(divisor), or column % divisor",
  ["neg negative negate"] = "use -column",
  ["not_ negated inverse invert"] = "use ~condition", ["and_ also"] = connectives, ["or_ otherwise_or"] = connectives, ["all_ any_"] = connectives,
  ["avg mean"] = "use column:average()",
  ["maximum largest"] = "use column:max()", ["minimum smallest"] = "use column:min()",
  ["len char_length size count_chars char_len"] = "use column:length(); column:count() counts values",
  ["to_lower lowercase tolower lowered down downcase lcase"] = "use column:lower()",
  ["to_upper uppercase toupper uppered up upcase ucase"] = "use column:upper()",
  ["strip trimmed strip_spaces"] = "use column:trim()", ["lstrip"] = "use column:ltrim()", ["rstrip"] = "use column:rtrim()",
  ["sub_string substring slice left right mid sub_str subtext"] = "use column:substr(first, count)",
  ["position index_of indexof strpos locate charindex"] = "use column:instr(part)",
  ["gsub replace_all sub_all"] = "use column:replace(part, by)",
  ["collate nocase ignore_case case_insensitive with_collation collation ignoring_case"] = "use column:collating(\"nocase\")",
  ["op operate custom_op"] = "use perilune.sql(\"name = ?\", value) for other operators",
  ["func fn call apply function_"] = "use perilune.fn.name(column, ...) for other functions",
  ["type_coerce as_type to_type convert astype casted cast_as to_integer to_int to_real to_text to_string as_integer as_text tostring tonumber to_number"] =
    "use column:cast(\"integer\"), with \"integer\", \"real\", \"text\", \"blob\" or \"numeric\"",
  ["year"] = "use column:strftime(\"%Y\")", ["month"] = "use column:strftime(\"%m\")", ["day"] = "use column:strftime(\"%d\")",
  ["hour"] = "use column:strftime(\"%H\")", ["minute"] = "use column:strftime(\"%M\")", ["weekday dow day_of_week"] = "use column:strftime(\"%w\")",
  ["extract"] = "use column:json(\"name\") for a member of a JSON document, column:strftime(\"%Y\") for a part of a date", ["date_part date_trunc trunc_date format date_format to_char"] = "use column:strftime(format), as in column:strftime(\"%Y-%m\")",
  ["timestamp unix epoch"] = "use column:unixepoch()",
  ["now"] = "use perilune.now() as a value",
  ["get path at key member get_path json_get json_value json_field extract_json json_text jsonb element json_extract get_json_object"] = "use column:json(\"name\"), or column:json(\"$.a.b\")",
  ["json_agg array_agg to_json_array json_array collect collect_list"] = "use column:json_group_array()",
  ["string_agg listagg join concat_ws group_concatenate concat_group"] = "use column:group_concat(separator)",
  ["ifnull default default_to if_null or_default otherwise orelse nvl isnull_ if_nil fallback"] = "use column:coalesce(value)",
  ["iif case when if_ then_ case_when choose switch then else_ else"] = "use perilune.case{ { condition, value }, otherwise = value }",
  ["exists any has_any"] = "use perilune.exists(request), Class.association:exists(), or column:is_not_null()",
  ["is_empty empty blank is_blank"] = "use column:eq(\"\") for empty text, column:is_null() for NULL",
  ["filter filtered filter_where having"] = "use column:sum():where(condition) for an aggregate of some rows, and request:filter(condition) for rows",
  ["first last"] = "use column:first_value():over{ ... }, or request:order(column):fetch_one()",
  ["row_number rank dense_rank ntile percent_rank cume_dist"] = "use perilune.row_number():over{ partition_by = column, order_by = column }; likewise rank, dense_rank and ntile",
  ["partition_by partition window_"] = "use column:sum():over{ partition_by = column, order_by = column }",
  ["previous prior"] = "use column:lag():over{ order_by = column }", ["following next"] = "use column:lead():over{ order_by = column }",
  ["is_true true_ is_true_"] = "use the column itself, or column:eq(true)", ["is_false false_"] = "use ~column, or column:eq(false)",
  ["between_ in_range range"] = "use column:between(low, high)",
  ["fetch_all fetch_one value fetch"] = "an expression is part of a request, as in Class:select(expression):fetch_value()",
  ["count_all"] = "use perilune.count()", ["unique uniq distinct_values"] = "use request:select(\"column\"):distinct()",
  ["count_distinct distinct_count n_distinct nunique"] = "use column:count():distinct()", ["sum_distinct"] = "use column:sum():distinct()",
  ["sum_all add_all"] = "use column:sum()",
  ["asc_nulls_first desc_nulls_first"] = "use column:nulls_first()", ["asc_nulls_last desc_nulls_last"] = "use column:nulls_last()",
  ["set assign update"] = "use request:update_all{ column = value }",
  ["increment decrement inc dec incr decr increment_by decrement_by"] = "use request:update_all{ column = Class.c.column + 1 }",
  ["bool_or bool_and every some"] = "use column:max() and column:min(), since true is 1",
  ["greatest least"] = "use perilune.fn.max(a, b), or perilune.fn.min(a, b)",
  ["power"] = "use column:pow(exponent)", ["ceiling"] = "use column:ceil()", ["log"] = "use column:ln(), column:log10() or column:log2()",
  ["md5 sha1 random"] = "use perilune.fn.name(column) for other SQL functions; db:add_function defines new ones",
  ["is_like"] = "use column:like(pattern)", ["nulls"] = "use column:nulls_first() or column:nulls_last()",
}

-- Databases -------------------------------------------------------------------------------------------------------------------------

sections.query = {
  ["text statement query"] = "use query.sql", ["time duration elapsed ms"] = "queries have no times; use query.sql",
}
sections.database = {
  ["truncate truncate_all truncate_table clean"] =
    "use Class:delete_all() with a class of perilune.record(\"table\"), or db:execute(\"DELETE FROM name\")",
  ["revert revert_changes"] = "use db:apply_changes(changeset:inverted())",
  ["start_recording changeset diff record_session capture_changes"] = "use db:record_changes(function(db) ... end)",
  ["remove_observer unobserve stop_observing unsubscribe observers"] =
    "keep the result of db:observe_transactions, and use observer:cancel()",
  ["reset_sequence reset_autoincrement set_sequence"] = "use db:execute(\"DELETE FROM sqlite_sequence WHERE name = ?\", name)",
  ["drop_fts5 drop_fts drop_full_text"] = "use db:drop_table(name), which also drops the triggers",
  ["rebuild_fts rebuild_full_text optimize_fts"] = "use db:execute(\"INSERT INTO name (name) VALUES ('rebuild')\")",
  ["enable_trigger disable_trigger"] = "use db:drop_trigger(name) and db:create_trigger(name, options)",
  ["create_materialized_view materialized_view refresh_view"] = "SQLite has no materialized views; use db:create_view(name, query)",
  ["list_foreign_keys get_foreign_keys foreign_key_list"] = "use db:foreign_keys(\"table\")",
  ["list_views get_views view_names"] = "use db:views()",
  ["list_triggers get_triggers trigger_names"] = "use db:triggers(\"table\")",
  ["list_indexes get_indexes index_list indexes_of index_names list_indices"] = "use db:indexes(\"table\")",
  ["drop_tables"] = "use db:drop_table(name) for each of db:tables()",
  ["create_temp_table create_temporary_table temp_table temporary_table"] =
    "use db:create_table(name, { temporary = true }, function(t) ... end)",
  ["quote_identifier escape_identifier quote_name quote_column"] =
    "names in SQL stand in double quotes; db:create_table and the like quote them",
  ["search match search_text full_text_search"] =
    "use db:fetch_all(\"... MATCH ?\", perilune.fts5_pattern(text)) with a table of db:create_fts5",
  ["max min sum avg average"] = "use db:fetch_value(\"SELECT MAX(column) FROM name\")",
  ["exists"] = "use db:table_exists(name), or db:fetch_value(\"SELECT EXISTS (SELECT ...)\", ...) for rows",
  ["any fetch_exists has_rows row_exists"] = "use db:fetch_value(\"SELECT EXISTS (SELECT ...)\", ...)",
  ["execute_returning insert_returning fetch_returning"] = "use db:fetch_one(\"INSERT ... RETURNING id\", ...)",
  ["execute_file run_file source exec_file read_sql load_sql"] = "use db:execute(io.open(path):read(\"a\"))",
  ["execute_many executemany exec_many execute_batch"] =
    "prepare once, local s = db:prepare(sql), and call s:execute(...); db:execute(sql, ...) runs once",
  ["fetch_pairs fetch_map fetch_keyed fetch_grouped fetch_hash_of"] = "use for key, value in db:tuples(sql, ...) do map[key] = value end",
  ["fetch_number fetch_text fetch_cell fetch_single fetch_optional_value"] = "use db:fetch_value(sql, ...)",
  ["fetch_json"] = "use perilune.json.decode(db:fetch_value(sql, ...))",
  ["fetch_date fetch_datetime fetch_bool fetch_boolean fetch_float"] = "use db:fetch_value_as(\"date\", sql, ...), or another type",
  ["last_insert_row_id get_last_insert_id get_last_insert_rowid last_row_id"] = "use db:execute(sql, ...).inserted_rowid",
  ["restore restore_from backup_from load_from load"] = "use other:backup_to(db), or perilune.deserialize(bytes)",
  ["attached databases list_databases attached_databases database_list"] = "use db:fetch_all(\"PRAGMA database_list\")",
  ["size file_size page_count"] = "use db:fetch_value(\"PRAGMA page_count\") * db:fetch_value(\"PRAGMA page_size\")",
  ["start start_tx"] = "use db:write(function(db) ... end), which commits at its end",
  ["has_snapshots can_snapshot"] = "use db:snapshot(), which raises an error if the database is not a pool",
  ["sqlite_version library_version"] = "use db:fetch_value(\"SELECT sqlite_version()\")",
  ["in_memory is_in_memory is_memory"] = "use db:path() == \":memory:\"",
  ["row_factory dict_factory set_row_factory"] = "rows have their columns as fields, row.name and row[1]; row:to_table() returns a plain table",
  ["fetch_dict fetch_dicts fetch_assoc fetch_hash fetchall_dict"] = "use db:fetch_all(sql, ...), whose rows have their columns as fields",
  ["create_model generate_model"] = "use db:create_table(name, function(t) ... end), then perilune.record(name)",
  ["make_snapshot create_snapshot take_snapshot"] = "use db:snapshot()",
  ["progress_handler set_progress_handler"] = "a limit ends long statements: perilune run --timeout 2s; db:interrupt() ends the running one",
  ["deserialize"] = "use perilune.deserialize(bytes), which returns another database",
  ["readonly is_readonly set_readonly"] = "use the option `readonly` of perilune.queue or perilune.pool",
  ["raw"] = "use db:fetch_all(sql, ...) for rows, db:execute(sql, ...) for changes, and perilune.sql(text, ...) for SQL in expressions",
  ["close_vm"] = "use statement:close() for each prepared statement",
  ["release_memory shrink_memory free_memory"] = "use db:execute(\"PRAGMA shrink_memory\")",
  ["exec run do_ perform sql exec_sql run_sql execute_sql executescript exec_script execute_script execute_update "
 .. "exec_driver_sql write_sql batch command"] =
    "use db:execute(sql, ...), or db:rows(sql, ...) to iterate over rows",
  ["query select select_all all get_all fetchall query_all list fetch fetch_rows get_rows read_all fetch_many query_rows get_results raw_query "
    .. "select_rows array query_array query_raw execute_query table"] =
    "use db:fetch_all(sql, ...), or db:rows(sql, ...) to iterate over rows",
  ["nrows each iter cursor each_row for_each stream fetch_cursor iterate open_cursor query_iter row_iterator fetch_each fetch_iter fetch_iterator fetch_stream "
    .. "fetch_lazy each_of iter_rows iterate_rows stream_rows lines query_each foreach fetch_next"] =
    "use db:rows(sql, ...), whose rows have a field for each column",
  ["irows urows"] = "use db:tuples(sql, ...), which gives the values of each row",
  ["first_row first get query_one query_row fetchone select_one get_row single one query_first fetch_row row fetch_first find find_one get_one query_single "
    .. "fetch_optional select_row get_first_row"] =
    "use db:fetch_one(sql, ...)",
  ["first_irow"] = "use db:fetch_values(sql, ...)",
  ["scalar value get_value query_value execute_scalar fetchval fetch_val pluck select_value query_scalar fetch_scalar get_scalar fetch_int fetch_integer "
    .. "fetch_string fetch_count count get_first_value single_value"] =
    "use db:fetch_value(sql, ...)",
  ["scalars values column fetch_column query_column select_values fetch_list fetch_col"] = "use db:fetch_values(sql, ...)",
  ["last_insert_rowid getlastautoid last_insert_id last_id lastrowid insert_id last_inserted_id last_inserted_row_id last_rowid inserted_rowid last_inserted_rowid"] =
    "use db:execute(sql, ...).inserted_rowid",
  ["changes changed_rows affected_rows rows_affected rowcount row_count changes_count num_rows"] = "use db:execute(sql, ...).changed_rows",
  ["total_changes"] = "use db:fetch_value(\"SELECT total_changes()\")",
  ["errmsg error_message errcode error_code error last_error get_error"] = failures,
  ["create_function function_ define_function register_function add_sql_function"] = "use db:add_function(name, options, f)",
  ["create_aggregate register_aggregate define_aggregate"] = "use db:add_aggregate(name, options, definition)",
  ["create_collation register_collation define_collation collation"] = "use db:add_collation(name, compare)",
  ["on update_hook commit_hook rollback_hook on_change on_commit add_observer after_commit on_update set_update_hook add_transaction_observer observe_changes "
    .. "track_changes on_write listen subscribe"] =
    "use db:observe_transactions{ on_change = f, did_commit = f }, or db:observe(fetch, f) for values",
  ["busy_timeout busy_handler set_busy_timeout timeout"] = "use the option `busy_timeout` of perilune.queue or perilune.pool",
  ["db_filename filename file name file_name get_path"] = "use db:path()",
  ["isopen is_open is_closed closed"] = "db:path() raises if the database is closed",
  ["wal_checkpoint"] = "use db:checkpoint(kind)",
  ["load_extension enable_load_extension"] = "scripts cannot load extensions; the host lists them (perilune run --extension FILE)",
  ["async_write async_write_without_transaction begin commit rollback setautocommit begin_transaction commit_transaction rollback_transaction start_transaction set_autocommit autocommit "
    .. "transaction with_transaction atomic in_transaction_ tx immediate_transaction begin_immediate run_in_transaction write_transaction do_transaction "
    .. "writer update_in_transaction unsafe_reentrant_write end_transaction"] =
    transactions .. "; a function of db:in_transaction or db:in_savepoint may also return \"rollback\"",
  ["savepoint with_savepoint nested begin_nested release rollback_to release_savepoint rollback_to_savepoint"] = "use db:in_savepoint(function() ... end)",
  ["async_read read_transaction reader unsafe_read read_only with_read read_lock snapshot_read"] = "use db:read(function(db) ... end)",
  ["write_in_transaction"] = "use db:write(function(db) ... end)",
  ["unsafe_write without_transaction"] = "use db:write_without_transaction(function(db) ... end)",
  ["in_transaction_now is_in_transaction is_transaction inside_transaction transaction_state in_txn get_autocommit"] = "use db:is_inside_transaction()",
  ["escape quote escape_string escape_literal quote_literal literal quote_string"] = "pass values as arguments: db:execute(\"... WHERE name = ?\", name)",
  ["statement prepare_statement make_statement cached_statement compile stmt prepare_v2 create_statement"] = "use db:prepare(sql)",
  ["create_or_replace_view replace_view"] = "use db:drop_view(name, { if_exists = true }), then db:create_view(name, query)",
  ["create make_table new_table create_table_if_not_exists define_table"] =
    "use db:create_table(name, { if_not_exists = true }, function(t) ... end)",
  ["drop remove_table delete_table drop_table_if_exists"] = "use db:drop_table(name, { if_exists = true })",
  ["alter change_table modify_table"] = "use db:alter_table(name, function(t) ... end)",
  ["add_column create_column"] = "use db:alter_table(\"table\", function(t) t:add_column(name, type) end)",
  ["drop_column remove_column delete_column"] = "use db:alter_table(\"table\", function(t) t:drop_column(name) end)",
  ["rename_column"] = "use db:alter_table(\"table\", function(t) t:rename_column(name, new_name) end)",
  ["change_column alter_column modify_column change_column_default change_column_null set_column_default"] =
    "use db:alter_table(\"table\", function(t) t:change_column(name, type) end)",
  ["add_foreign_key create_foreign_key add_reference add_belongs_to"] = "use db:alter_table(\"table\", function(t) t:foreign_key(column, other) end)",
  ["add_timestamps"] = "use db:alter_table(\"table\", function(t) t:add_column(\"created_at\", \"datetime\") end)",
  ["add_index index make_index create_unique_index add_unique_index unique_index"] = "use db:create_index(\"table\", { \"column\" }, { unique = true })",
  ["remove_index delete_index"] = "use db:drop_index(\"table\", { \"column\" })",
  ["view new_view add_view"] = "use db:create_view(name, sql)", ["add_trigger trigger"] = "use db:create_trigger(name, options)",
  ["has_table has_tables is_table exists_table table_exist contains_table hastable data_source_exists"] = "use db:table_exists(name)",
  ["has_column column_exists column_exist"] = "compare the names in db:columns(\"table\")",
  ["has_index"] = "use db:index_exists(name)", ["has_view"] = "use db:view_exists(name)", ["has_trigger"] = "use db:trigger_exists(name)",
  ["table_names get_tables list_tables show_tables table_list all_tables data_sources"] = "use db:tables()",
  ["table_info columns_of describe get_columns column_names pragma_table_info list_columns columns_in table_columns"] = "use db:columns(\"table\")",
  ["schema dump_schema get_schema table_sql create_statement_of schema_dump structure table_schema"] = "use db:schema_sql(\"table\")",
  ["pragma set_pragma get_pragma"] = "use db:execute(\"PRAGMA name = value\") and db:fetch_value(\"PRAGMA name\")",
  ["vacuum optimize analyze integrity_check reindex"] = "use db:execute(\"VACUUM\"), db:fetch_values(\"PRAGMA integrity_check\"), and so on",
  ["user_version schema_version version"] = "use db:fetch_value(\"PRAGMA user_version\")",
  ["backup backup_database copy_to copy clone save_to save_as export_to"] = "use db:backup_to(perilune.queue(path)), or db:execute(\"VACUUM INTO ?\", path) for a new "
    .. "file; db:serialize() returns the bytes",
  ["dump iterdump dump_to to_sql"] = "use the command `perilune dump --database FILE` for SQL text, db:backup_to(perilune.queue(path)) for a copy, db:schema_sql() for the schema",
  ["record model class register table_class define model_for define_model map"] = "use perilune.record(\"table\")",
  ["add"] = "use Class:insert{ column = value } with a class of perilune.record(\"table\"), or db:execute(sql, ...); " .. queue_of_jobs,
  ["add_all save_all"] = "use Class:insert_all{ { column = value }, ... } with a class of perilune.record(\"table\")",
  ["flush"] = "Class:insert, record:save and db:execute write at once",
  ["set setex set_key get_key incr hset hget"] = keeping,
  ["insert insert_into insert_row insert_one save create_record put"] = "use Class:insert{ column = value } with a class of perilune.record(\"table\"), or db:execute(sql, ...)",
  ["insert_all insert_many bulk_insert"] = "use Class:insert_all{ { ... }, ... } with a class of perilune.record(\"table\")",
  ["update upsert replace update_all update_row"] = "use Class:filter{ ... }:update_all{ ... } or record:update_changes{ ... } with a class of perilune.record(\"table\"), "
    .. "or db:execute(sql, ...)",
  ["delete remove delete_all delete_row"] = "use Class:filter{ ... }:delete_all() with a class of perilune.record(\"table\"), or db:execute(sql, ...)",
  ["from from_table filter where order select_from"] = "use a class: local Class = perilune.record(\"table\"); Class:filter{ ... }:fetch_all()",
  ["migrate migrations run_migrations migrator register_migration add_migration"] = "use perilune.migrator(), then migrator:register(name, function(db) ... end) and "
    .. "migrator:migrate(db)",
  ["open connect open_memory"] = "use perilune.queue(path), or perilune.pool(path)",
  ["disconnect shutdown dispose finalize close_all quit"] = "use db:close()",
  ["cursor_ session get_session conn connection get_connection acquire checkout"] = "use the database itself; db:write and db:read pass a handle to their function",
  ["watch live observe_value observe_values value_observation observe_table observe_query track value_publisher"] = "use db:observe(fetch, callback)",
  ["explain_query_plan query_plan eqp plan"] = "use db:explain(sql, ...)",
  ["trace profile log set_trace sql_trace"] = "the command shows statements: perilune run --trace FILE",
  ["after_commit_once on_next_commit after_next_commit after_transaction"] = "use db:after_next_transaction(on_commit, on_rollback)",
  ["last_error_message"] = failures, ["drop_all reset erase clear"] = "use db:drop_table(name) for each of db:tables()",
  ["attach attach_database detach"] = "use db:execute(\"ATTACH DATABASE ? AS name\", path)",
  ["history versions_of_table audit undo redo track_history enable_history"] = "use perilune.history(Class), whose history:undo(transaction) undoes changes",
  ["preview dry_run simulate"] = "use db:record_changes(function(db) ... end), which returns a changeset, or `perilune run --preview FILE`",
  ["push enqueue add_job perform_later jobs dispatch schedule_job work process"] = queue_of_jobs .. ", as in perilune.jobs(name):enqueue(payload)",
  ["lpush rpush lpop rpop brpop pop consume failed completed waiting pause drain"] = queue_of_jobs .. "; `perilune help jobs` lists its methods",
  ["import import_csv export export_csv load_csv csv from_csv to_csv copy_from import_file"] = "use the command `perilune import FILE --table NAME`, and `perilune query --format csv` for output",
  ["transform_table rebuild_table recreate_table alter_table_rebuild"] = "use db:alter_table(name, function(t) ... end), which rebuilds the table if SQLite requires it",
  ["copy_table clone_table duplicate_table"] = "use db:execute(\"CREATE TABLE copy AS SELECT * FROM name\")",
  ["create_join_table add_join_table create_link_table many_to_many"] = "use db:create_table(name, function(t) t:belongs_to(\"first\") t:belongs_to(\"second\") end)",
  ["sleep wait"] = "use perilune.sleep(duration)", ["now"] = "use perilune.now(), or db:transaction_date()",
  ["foreign_keys_enabled enable_foreign_keys"] = "foreign keys are enforced; db:foreign_key_violations() finds broken references",
  ["rename alter_table_rename"] = "use db:rename_table(name, new_name)",
  ["interrupt_all abort cancel stop"] = "use db:interrupt()",
  ["blob open_blob_handle blob_open"] = "use db:open_blob(table, column, rowid)",
  ["parameter bind bind_values bind_names"] = "pass values as arguments: db:fetch_all(\"... WHERE name = :name\", { name = \"Ada\" })",
  ["add_tokenizer register_tokenizer create_virtual_table create_fts create_full_text create_fts4 create_fts_table create_fts5_table create_search_index create_full_text_index fulltext full_text_index"] = "use db:create_fts5(name, options)",
}

sections.statement = {
  ["is_closed is_open closed"] = "statement:sql() raises if the statement is closed",
  ["expanded_sql to_sql"] = "use statement:sql()",
  ["explain query_plan"] = "use db:explain(sql, ...)",
  ["execute_many executemany execute_all"] = "use statement:execute(...) for each",
  ["arguments set_arguments"] = "pass values as arguments: statement:execute(...), statement:fetch_all(...)",
  ["step next"] = "use statement:rows(...), or statement:fetch_one(...)",
  ["bind bind_values bind_names bind_blob bind_all bind_param bindparam set"] = "pass values as arguments: statement:execute(...), statement:fetch_all(...)",
  ["reset clear_bindings clear"] = "statements reset themselves; pass new values as arguments",
  ["finalize release dispose"] = "use statement:close()",
  ["nrows each iter iterate"] = "use statement:rows(...)", ["irows urows"] = "use statement:tuples(...)",
  ["query all get_all fetchall list select fetch"] = "use statement:fetch_all(...)", ["run exec"] = "use statement:execute(...)",
  ["get first one fetchone single get_row get_values get_named_values get_uvalues row"] = "use statement:fetch_one(...)",
  ["scalar get_value get_uvalue value pluck"] = "use statement:fetch_value(...)",
  ["names get_names get_unames column_names get_name column_count get_types get_utypes get_type get_named_types"] = "use statement:columns()",
  ["parameter_count bind_parameter_count bind_parameter_name params"] = "use statement:parameters()",
  ["last_insert_rowid changes"] = "use statement:execute(...).inserted_rowid, or .changed_rows",
  ["readonly"] = "use statement:is_readonly()", ["isopen"] = "statement:sql() raises if the statement is closed", ["text source"] = "use statement:sql()",
}

sections.row = {
  ["fetch value_of get_value column field at"] = "use row.column, or row:get(name)",
  ["to_dict as_table to_hash as_dict totable to_h dict tojson to_json"] = "use row:to_table(), and perilune.json.encode(row) for JSON text",
  ["keys names column_names fields"] = "use row:columns()", ["ipairs iter each items"] = "use row:pairs()",
  ["get_string text"] = "use row:string(name)", ["get_int get_integer int number"] = "use row:integer(name), or row:float(name)",
  ["bool get_bool get_boolean"] = "use row:boolean(name)", ["get_date datetime timestamp"] = "use row:date(name)",
  ["julian_date julian_day"] = "use row:date(name), or perilune.date.from_julian_day(number)",
  ["with_blob blob bytes get_blob data"] = "use row.column, or row[name]; the bytes of a BLOB are a string",
  ["has_column contains exists"] = "use row:has(name)", ["is_null isnull is_nil"] = "use row.column == nil",
  ["to_record as_record record into_record to_model"] = "use Class:from_row(row)", ["json get_json decode"] = "use perilune.json.decode(row.column)", ["update save delete insert set"] = "a row is a plain result; records of perilune.record(\"table\") can be written",
}

-- Schema ------------------------------------------------------------------------------------------------------------------------------

local looping = "use a loop: for _, element in ipairs(list) do ... end"
local narrowing = "use a loop, or a condition before fetching: Class:filter{ column = value }"

sections.list = {
  ["count size length len get_count fetch_count num_rows row_count total"] = "use #list",
  ["first head fetch_one one"] = "use list[1]", ["last tail"] = "use list[#list]", ["get at item nth fetch"] = "use list[index]; the first index is 1",
  ["is_empty empty any exists is_blank present"] = "use #list == 0, or Class:exists() without fetching",
  ["each for_each iter iterate map collect flat_map filter_map transform with_index enumerate items entries rows records all to_list to_a to_array to_table "
    .. "fetch_all list ipairs pairs"] = looping,
  ["filter where select reject find find_all find_by find_index index_of index detect some every partition includes include contains has"] = narrowing,
  ["reduce fold inject sum average avg min max"] = "use a loop, or Class:sum(\"column\"), likewise average, min and max, without fetching",
  ["pluck ids keys pick column"] = "use a loop, or Class:pluck(\"column\") in place of fetch_all()",
  ["group group_by index_by key_by tally count_by"] = "use a loop that fills a table by key, or Class:group(\"column\")",
  ["sort sort_by sorted order order_by"] = "use Class:order(\"column\") before fetching, or table.sort(list, f)",
  ["reverse reversed"] = "use Class:order(Class.c.column:desc()) before fetching",
  ["limit take slice skip drop offset page paginate"] = "use Class:limit(count, offset) before fetching, or table.move(list, first, last, 1, {})",
  ["push append add insert extend"] = "use table.insert(list, element)", ["pop shift remove unshift"] = "use table.remove(list, index)",
  ["concat join to_string"] = "use table.concat(list, \", \")", ["unpack"] = "use table.unpack(list)",
  ["uniq unique distinct"] = "use Class:distinct() before fetching", ["to_json json"] = "use perilune.json.encode(list)",
  ["update update_all save save_all"] = "use request:update_all{ column = value } in place of fetching, or a loop that calls record:save()",
  ["delete delete_all destroy destroy_all"] = "use request:delete_all() in place of fetching, or a loop that calls record:delete()",
}

sections.table = {
  ["()"] = "use t:column(name, type)",
  ["string text varchar char str character tinytext longtext mediumtext citext clob nvarchar"] = typed:format("text"),
  ["integer int bigint smallint big_integer number tinyint serial int_ long small_integer"] = typed:format("integer"),
  ["float real double number_ decimal_ floating"] = typed:format("real"),
  ["decimal numeric money"] = typed:format("numeric"), ["boolean bool"] = typed:format("boolean"), ["blob binary bytes bytea"] = typed:format("blob"),
  ["date"] = typed:format("date"), ["datetime timestamp time timestamptz date_time"] = typed:format("datetime"),
  ["json"] = typed:format("json_text"), ["jsonb"] = typed:format("jsonb"), ["uuid guid"] = typed:format("text"),
  ["enum"] = typed:format("text") .. ", and the class option types = { column = perilune.enum{ \"a\", \"b\" } }",
  ["any"] = typed:format("any"),
  ["timestamps created_at updated_at use_timestamps timestamp_columns add_timestamps"] = timestamps,
  ["autoincrement auto_increment increments id primary pk big_increments serial_primary_key autoincremented_primary_key auto_incrementing_primary_key "
    .. "auto_id auto_increment_primary_key autoincremented identity primary_key_autoincrement integer_primary_key"] =
    "use t:auto_incremented_primary_key(\"id\"), or t:primary_key(\"id\", \"integer\")",
  ["references reference foreign foreign_id foreign_key_column belongs_to_many many_to_one ref fk has_one has_many belongsto"] =
    "use t:belongs_to(\"table\"), which adds the column and its index, or t:column(name, type):references(\"table\")",
  ["unique unique_index add_unique unique_constraint uniq unique_together unique_keys"] = "use t:unique_key{ \"a\", \"b\" }, or t:column(name, type):unique()",
  ["index add_index indexes key create_index indexed"] = "use t:column(name, type):indexed(), or db:create_index(\"table\", { \"column\" }) after db:create_table",
  ["col field add_column column_of new_column define_column"] = columns,
  ["check_constraint add_check checks"] = "use t:check(condition)",
  ["many_to_many has_and_belongs_to_many join_table"] = "use a table of its own with t:belongs_to(\"first\") and t:belongs_to(\"second\")",
  ["not_null nullable default null required"] = columns,
  ["remove remove_column drop_column drop rename rename_column change change_column modify alter_column"] = "use db:alter_table(\"table\", function(t) ... end) with t:rename_column, "
    .. "t:drop_column and t:change_column",
  ["sql raw"] = "use t:column_sql(sql), or t:constraint(sql)", ["strict without_rowid temporary if_not_exists"] =
    "use an option of db:create_table(name, { strict = true }, function(t) ... end)",
  ["generated computed virtual generated_column"] = "use t:column(name, type):generated_as(expression)",
  ["composite_primary_key primary_keys"] = "use t:primary_key{ \"a\", \"b\" }",
  ["synchronize tokenizer"] = "use db:create_fts5(name, { columns = { ... }, tokenizer = ... })",
}

sections.type = {
  ["string str uuid guid enum citext email url name word symbol inet cidr ip xml"] = "did you mean \"text\"?",
  ["number num"] = "did you mean \"integer\" or \"real\"?", ["long short byte counter cents unsigned uint int32 int64 integer_ big_integer biginteger i64"] = "did you mean \"integer\"?",
  ["serial bigserial autoincrement auto_increment identity id primary_key pk increments"] = "use t:auto_incremented_primary_key(\"id\")",
  ["single double_ float4 float8 float64 percent floating"] = "did you mean \"real\"?",
  ["money currency price amount dec bigdecimal big_decimal"] = "use \"integer\" for cents, or \"numeric\"",
  ["binary bytes bytea varbinary image bin data buffer file"] = "did you mean \"blob\"?",
  ["timestamptz datetime2 date_time timestamps datetimeoffset smalldatetime instant moment"] = "did you mean \"datetime\"?", ["day"] = "did you mean \"date\"?",
  ["object array map hash list table dict hstore document"] = "did you mean \"json_text\"?", ["logical bit yesno flag"] = "did you mean \"boolean\"?",
  ["references reference foreign_key belongs_to"] = "use t:belongs_to(\"table\")",
}

sections.alteration = {
  ["drop_default remove_default unset_default"] = "use t:change_column(name):without(\"default\")", ["add_column_after add_column_before insert_column"] = "use t:add_column(name, type), and t:order_columns{ ... } for the order",
  ["column new_column create_column add"] = "use t:add_column(name, type)", ["remove_column remove delete_column drop"] = "use t:drop_column(name)",
  ["rename"] = "use t:rename_column(name, new_name), or db:rename_table(name, new_name)",
  ["change modify alter alter_column modify_column set_type change_type retype"] = "use t:change_column(name, type)",
  ["set_default change_default change_column_default"] = "use t:change_column(name):default(value)",
  ["set_not_null change_column_null drop_not_null"] = "use t:change_column(name):not_null(), or :without(\"not_null\")",
  ["index create_index add_index_on"] = "use t:add_index{ \"column\" }", ["remove_index drop_index"] = "use db:drop_index(\"table\", { \"column\" })",
  ["references add_reference add_references add_belongs_to"] = "use t:belongs_to(\"table\")", ["add_foreign_key"] = "use t:foreign_key(column, \"table\")",
  ["remove_foreign_key"] = "use t:drop_foreign_key(column, \"table\")", ["unique add_unique add_unique_key"] = "use t:unique_key{ \"a\", \"b\" }",
  ["add_primary_key"] = "use t:primary_key{ \"a\", \"b\" }", ["remove_primary_key"] = "use t:drop_primary_key()",
  ["timestamps add_timestamps"] = "use t:add_column(\"created_at\", \"datetime\")",
  ["string text integer boolean float decimal datetime date blob int real json"] = "use t:add_column(name, type)",
  ["auto_incremented_primary_key"] = "use t:add_column(\"id\", \"integer\"):primary_key()", ["add_check"] = "use t:check(condition)",
  ["rename_table rename_to"] = "use db:rename_table(name, new_name)", ["reorder_columns move_column"] = "use t:order_columns{ ... }",
}

sections.column_definition = {
  ["references_ to to_table"] = "use the option: t:belongs_to(name, { table = \"other\" })",
  ["one_of in_ is_in any_of among inclusion choices values enum"] = "use :check(\"column IN ('a', 'b')\"), or the class option types = { column = { \"a\", \"b\" } }",
  ["lowercase ignore_case citext"] = "use :collate(\"nocase\")", ["after before first position"] = "columns have the order of their definition; t:order_columns{ ... } in db:alter_table changes it",
  ["null nullable allow_null optional null_ok is_null can_be_null drop_not_null"] = "columns allow NULL unless they are :not_null(); after "
    .. "t:change_column(name), :without(\"not_null\") allows it again",
  ["required notnull not_nullable nonnull non_null mandatory not_nil is_not_null"] = "use :not_null()",
  ["default_value defaults default_to defaults_to with_default set_default default_is"] = "use :default(value), or :default_sql(sql)",
  ["default_now default_current_timestamp use_current default_function server_default"] = "use :default_sql(\"CURRENT_TIMESTAMP\")",
  ["index add_index with_index create_index"] = "use :indexed()", ["uniq unique_key is_unique unique_index"] = "use :unique()",
  ["autoincrement auto_increment autoincremented auto increments identity"] = "use :primary_key{ autoincrement = true }, or t:auto_incremented_primary_key(\"id\")",
  ["primary pk is_primary_key key"] = "use :primary_key()", ["foreign_key belongs_to refers_to reference fk constrained foreign"] = "use :references(\"table\")",
  ["on_delete cascade cascade_on_delete"] = "use the option of the reference: :references(\"table\", { on_delete = \"cascade\" })",
  ["on_update cascade_on_update"] = "use the option of the reference: :references(\"table\", { on_update = \"cascade\" })",
  ["collation nocase case_insensitive"] = "use :collate(\"nocase\")", ["checks constraint check_constraint between min max"] = "use :check(condition)",
  ["generated computed virtual stored generated_always_as"] = "use :generated_as(expression)", ["comment"] = "SQLite has no comments on columns",
  ["precision scale limit length size max_length digits"] = "give the size with the type, as in t:column(\"price\", \"decimal(10, 2)\")",
  ["unsigned"] = "SQLite has no unsigned integers; use :check(\"column >= 0\")", ["type cast"] = "the type is the second argument of t:column(name, type)",
  ["column text integer string"] = "begin a new statement: t:column(name, type)",
  ["drop_default remove_default without_default no_default unset_default"] = "use :without(\"default\") after t:change_column(name)",
}

-- Tasks, observers, dates and the rest --------------------------------------------------------------------------------------------------

sections.observer = {
  ["remove cancel_all stop dispose unsubscribe close off destroy detach disconnect invalidate end_ kill disable"] = ending:format("observer"),
  ["active is_running is_live running is_cancelled"] = "use observer:is_active()",
}
sections.observation = {
  ["()"] = "use observation:next(), or `for value in observation:values() do`",
  ["map filter transform"] = "use the option `map`",
  ["refresh reload refetch"] = "use db:notify_changes(\"table\")",
  ["on_change"] = "pass the function when observing: db:observe(fetch, callback)",
  ["latest current last first"] = "use observation:next(), or observation:try_next() without waiting",
  ["stop dispose unsubscribe close off destroy remove detach disconnect invalidate end_ kill"] = ending:format("observation"),
  ["active is_running running is_live"] = "use observation:is_active()", ["start run on subscribe begin"] = "an observation starts when it is made",
  ["iter each rows stream"] = "use for value in observation:values() do", ["get value wait receive pull"] = "use observation:next()",
  ["unpause"] = "use observation:resume()",
}
sections.shared_observation = {
  ["value next latest get values"] = "use shared:observe(callback), which gets the current value first",
  ["subscribe on listen add watch"] = "use shared:observe(callback)", ["stop dispose close remove destroy off"] = ending:format("shared"),
  ["size subscribers subscriber_count"] = "use shared:count()",
}
sections.timer = {
  ["()"] = "use timer:cancel() and timer:is_active()",
  ["reschedule change set_delay"] = "use timer:cancel(), then perilune.after or perilune.every",
  ["next_time remaining time_left due"] =
    "a timer does not show its time; perilune.schedule and perilune.at return objects with next_time()",
  ["stop clear remove kill close off dispose clear_timeout clear_interval destroy unschedule unref end_ pause"] = ending:format("timer"),
  ["running active is_running is_live alive is_alive is_cancelled"] = "use timer:is_active()",
  ["start again restart reset resume"] = "make a new timer with perilune.after or perilune.every",
}
sections.schedule = {
  ["stop remove clear kill close off dispose destroy unschedule end_"] = ending:format("schedule"),
  ["running active is_running"] = "use schedule:is_active()", ["next next_run next_date next_invocation next_fire_time next_due"] = "use schedule:next_time()",
}
sections.task = {
  ["()"] = "use task:wait() for the results",
  ["on_done on_complete on_finish catch finally on_error error"] = "use pcall(function() return task:wait() end)",
  ["join await get result value results get_result wait_for block"] = "use task:wait(), which returns the results of the function",
  ["stop kill abort terminate close interrupt"] = ending:format("task"),
  ["is_running running is_alive alive done is_done finished is_finished is_active completed is_completed"] = "use task:status(): \"running\", \"done\", \"failed\" or \"cancelled\"",
  ["resume start run then_ then"] = "a task runs as soon as the script waits; task:wait() returns its results",
}
sections.automation = {
  ["()"] = "use automation:run(data)",
  ["update change on schedule set replace"] = "remove it with automation:remove(), then define it again with perilune.automation{ ... }",
  ["toggle set_enabled"] = "use automation:enable() or automation:disable()",
  ["wait join run_now"] = "use automation:run(data)",
  ["last_error errors failures"] = "use automation:runs(count), whose rows have the error of each run",
  ["stop delete cancel unregister destroy dispose off"] = "use automation:remove(), or automation:disable()",
  ["pause"] = "use automation:disable()", ["resume unpause"] = "use automation:enable()", ["trigger fire execute call start invoke emit"] = "use automation:run(data)",
  ["next_run next"] = "use automation:next_time()", ["history log last_runs last_run"] = "use automation:runs(count)", ["running"] = "use automation:is_running()",
  ["enabled is_active active"] = "use automation:is_enabled()",
  ["status state get_status info"] = "use automation:is_enabled(), automation:is_running() and automation:runs()",
}
sections.context = {
  ["payload data args params body"] = "use context.event, the data of perilune.emit or automation:run", ["database"] = "use context.db",
  ["row record"] = "use context.value, the result of the observed request, and context.trigger for the change",
  ["attempts retries tries retry_count"] = "use context.attempt",
}
sections.trigger = {
  ["payload body message params parameters args arguments event value"] = "use trigger.data, the data of perilune.emit or automation:run",
  ["row record old new changes"] = "use context.value, the row or the result of the observed request",
  ["type event_type reason source"] = "use trigger.kind", ["action op event_kind verb"] = "use trigger.operation",
  ["time at date when due_at due_date scheduled_at scheduled_for"] = "use trigger.due, and perilune.date(trigger.due) for the date",
  ["id row_id pk primary_key"] = "use run.key in a durable automation, or context.value", ["table_name"] = "use trigger.table",
  ["event_name topic channel"] = "use trigger.name", ["missed_count"] = "use trigger.missed", ["late"] = "use trigger.is_late",
}
sections.failure = {
  ["message err exception cause"] = "use failure.error", ["status state kind"] = "use failure.outcome", ["attempt tries retries"] = "use failure.attempts",
  ["stack stacktrace backtrace"] = "use failure.traceback",
}
sections.call = {
  ["attempts tries retries number"] = "use info.attempt, of the second argument", ["repeated is_retry is_rerun"] = "use info.is_repeat, of the second argument", ["key idempotency_key"] = "the key is the first argument of the function",
}
sections.version = {
  ["date timestamp created_at changed_at at when recorded_at"] = "use version.time", ["author user who whodunnit changed_by comment reason message"] =
    "use version.note, the note of its transaction: db:write({ note = \"...\" }, f)",
  ["event action kind type"] = "use version.operation", ["changes diff changed_columns changeset columns"] = "use version.changed, a list of columns, and version.record",
  ["item object row data values old new reify attributes state"] = "use version.record", ["id number index"] = "use version.version",
  ["restore revert undo rollback"] = "use version.record:save(), or perilune.history(Class):undo(version.transaction)",
}
sections.write_statement = {
  ["run exec perform call save insert update delete"] = "use statement:execute()", ["to_sql to_string text"] = "use statement:sql(), or print(statement)",
  ["all rows get_all query"] = "use statement:fetch_all()", ["one first get"] = "use statement:fetch_one()", ["value scalar"] = "use statement:fetch_value()",
}
sections.durable_run = {
  ["wait await wait_signal wait_for_signal receive recv signal"] = "use run:wait_for(name)", ["delay pause wait_until sleep_until after timer"] = "use run:sleep(duration)",
  ["transaction write do_step checkpoint once memo local_activity"] = "use run:step(name, f)",
  ["activity effect side_effect invoke perform request http fetch"] = "use run:call(name, f)", ["parallel gather join race spawn branches fork"] = "use run:all{ name = f }",
  ["now time clock date today"] = "use perilune.now(), which is the same in each execution", ["random"] = "use perilune.random(m, n), which is the same in each execution",
  ["complete finish succeed return_"] = "a run ends when its function returns", ["fail abort reject"] = "use error(message, 0)",
}
sections.jobs = {
  ["()"] = "use jobs:enqueue(payload), or jobs:handle(f)",
  ["enqueue_batch"] = "use jobs:enqueue(payload) for each",
  ["peek"] = "use jobs:list{ state = \"ready\", limit = 1 }",
  ["drain wait wait_until_idle join flush"] = "use handler:wait_until_idle() on the result of jobs:handle(f)",
  ["enqueue_all bulk_enqueue push_all enqueue_many add_all"] = "use jobs:enqueue(payload) for each, in db:write(function() ... end) if all must exist or none",
  ["failed dead failures errors"] = "use jobs:list{ state = \"dead\" }", ["retry_all retry_failed"] = "use jobs:retry(job.id) for each of jobs:list{ state = \"dead\" }",
  ["enqueue_in enqueue_at schedule perform_in perform_at push_in later delay in_ at"] = "use jobs:enqueue(payload, { delay = \"1h\" }), or { at = date }",
  ["pop take reserve next shift claim dequeue receive fetch_next lpop rpop blpop brpop"] = "use jobs:handle(function(payload) ... end), which takes one job after the other",
  ["push add put insert send submit perform_later perform_async dispatch publish create perform defer_ lpush rpush zadd"] = "use jobs:enqueue(payload)",
  ["work process worker consume on subscribe register run handler each define"] = "use jobs:handle(function(payload) ... end)",
  ["delete remove discard"] = "use jobs:cancel(id)", ["size length count fetch_count pending depth stats llen get_job_counts"] = "use jobs:counts()",
  ["get fetch job"] = "use jobs:find(id)", ["all jobs where filter"] = "use jobs:list(options)", ["stop stop_handling shutdown quit close"] = "use handler:cancel() on the result of jobs:handle(f) to stop handling jobs in this state; jobs:pause() stops "
    .. "the queue in all processes, and in later runs, until jobs:resume()",
  ["start unpause"] = "use jobs:resume()",
  ["clear purge clean vacuum delete_all empty"] = "use jobs:prune(options)", ["requeue restart"] = "use jobs:retry(id)",
}
sections.handler = {
  ["stop close remove kill quit shutdown dispose pause"] = "use handler:cancel()", ["wait join drain"] = "use handler:wait_until_idle()",
  ["running is_running size count"] = "use handler:running_count()",
}
sections.description = {
  ["nullable null is_nullable"] = "use `not_null`, which is true for a column without NULL", ["notnull"] = "use `not_null`", ["dflt_value default_value"] = "use `default`",
  ["pk is_primary_key key"] = "use `primary_key`, the position in the key", ["autoincrement auto_increment"] = "db:schema_sql(\"table\") shows it",
  ["to parent_columns target_columns"] = "use `referenced_columns`", ["from column"] = "use `columns`", ["parent referenced_table target"] = "use `table`",
  ["is_unique"] = "use `unique`", ["sql"] = "use db:schema_sql(\"table\")",
}
sections.page = {
  ["items rows data results list entries elements content objects fetch_all all"] = "use page.records", ["total total_count row_count total_entries total_rows fetch_count"] = "use page.count",
  ["total_pages page_count num_pages last_page"] = "use page.pages", ["page current_page index page_number current"] = "use page.number",
  ["per_page limit page_size"] = "use page.size", ["next has_next has_more next_page is_last has_next_page"] = "use page.number < page.pages; page.next of page_after is nil on the last page",
  ["previous has_previous previous_page prev_page is_first has_prev prev"] = "use page.number > 1; page.previous of page_after is nil on the first page",
  ["next_cursor cursor end_cursor after"] = "use page.next", ["previous_cursor start_cursor before prev_cursor"] = "use page.previous",
}
sections.migrator = {
  ["squash"] = "use the option `merges` of migrator:register",
  ["reset redo"] = "use migrator:migrate_down(db), then migrator:migrate(db)",
  ["add migration add_migration register_migration create new define"] = "use migrator:register(name, function(db) ... end)",
  ["run up apply migrate_up upgrade execute migrate_all"] = "use migrator:migrate(db)", ["down rollback undo downgrade revert"] = "use migrator:migrate_down(db)",
  ["status version current applied_migrations completed_migrations applied_identifiers current_version"] = "use migrator:applied(db), migrator:pending(db) and migrator:completed(db)",
  ["load load_folder from_folder folder register_files directory"] = "use migrator:register_folder(path)", ["list migrations all"] = "use migrator:names()",
  ["has_completed_migrations is_migrated up_to_date is_up_to_date"] = "use migrator:has_completed(db)", ["has_pending needs_migration"] = "use migrator:pending(db)",
  ["migrate_to up_to"] = "use migrator:migrate(db, { up_to = name })", ["erase_database_on_schema_change"] = "use migrator.erase_on_schema_change = true",
}
sections.history = {
  ["clear truncate reset purge delete"] = "use history:remove(db)",
  ["at as_of at_time"] = "use Class:as_of(time)",
  ["of for_record versions_of"] = "use record:history()",
  ["enable create setup start track add"] = "use history:install(db)", ["uninstall disable drop stop"] = "use history:remove(db)", ["revert rollback undo_last"] = "use history:undo(transaction)",
  ["list all versions changes entries log"] = "use history:transactions(limit), and record:history() for the versions of a record",
  ["note write annotate comment"] = "use db:write({ note = \"...\" }, function(db) ... end)", ["enabled is_enabled"] = "use history:is_installed(db)",
}
sections.changeset = {
  ["()"] = "use `for _, row in ipairs(changeset:rows(db)) do`",
  ["revert rollback"] = "use db:apply_changes(changeset:inverted())",
  ["tables to_sql to_json to_table items"] = "use changeset:rows(db), whose rows have table, operation, key, old and new",
  ["count size length"] = "use #changeset",
  ["apply"] = "use db:apply_changes(changeset)", ["invert reverse undo inverse"] = "use changeset:inverted()", ["concat append merge combine"] = "use changeset:followed_by(other)",
  ["iter each changes entries operations"] = "use changeset:rows(db)", ["bytes to_string data dump tostring"] = "use changeset:serialize()",
  ["save write write_to save_to to_file store"] = "write changeset:serialize() to a file that io.open(path, \"wb\") has opened; perilune.changeset(bytes) reads it", ["empty"] = "use changeset:is_empty()",
}
sections["function"] = {
  ["group.only group.focus"] = "use scenario.only(name, function(t) ... end)",
  ["group.skip group.todo"] = "use scenario.skip(reason, name, function(t) ... end)",
  ["factory.define factory.build factory.create"] = "use factory(\"table\", { column = value }), and t.make.table{ column = value }",
}
sections.error = {
  ["msg errmsg err_msg error_message error_msg text description detail reason error err"] =
    "use err.message, or tostring(err) with the position",
  ["match find gsub sub lower upper gmatch contains starts_with"] =
    "it is a method of the text: err.message:find(part, 1, true); err.kind is for programs",
  ["to_string tostring get_message str format to_s"] = "use tostring(err), or err.message",
  ["type class category error_type error_kind exception constraint is is_a"] = "use err.kind, such as \"constraint_unique\"",
  ["errno errcode err_code error_code sqlite_code sql_code result_code sqlite_errorcode status_code"] =
    "use err.code, SQLite's primary result code, or err.extended_code",
  ["extended_errcode extended_error_code extended_result_code sqlite_extended_code"] = "use err.extended_code",
  ["sqlite_errorname error_name code_name symbol"] = "use err.name, such as \"SQLITE_CONSTRAINT_UNIQUE\"",
  ["stack stack_trace stacktrace backtrace trace get_traceback"] = "use err.traceback", ["statement query sql_text"] = "use err.sql",
  ["position error_offset pos"] = "use err.offset",
  ["lineno line_number"] = "use err.line",
  ["filename file_name path_name script"] = "use err.file",
}
sections.bytes = {
  ["size length len count"] = "use #blob, the number of its bytes",
  ["numbers values floats list to_list to_table dot"] = "use perilune.vector_numbers(blob)",
  ["read bytes data to_string tostring string str sub upper lower hex byte find match format text"] =
    "use tostring(blob), a string of its bytes",
  ["write seek close pieces"] = "db:open_blob(table, column, rowid) opens a stored blob for reading and writing",
}
sections.date_text = {
  ["size"] = "use #text, the number of its bytes",
  ["year month day hour minute weekday unix"] = "use perilune.date(text) if it holds a date, or row:date(\"column\") for a date in a row",
  ["add start_of seconds_since iso8601 components strftime"] = "use perilune.date(text) if it holds a date, or row:date(\"column\") for a date in a row",
}
sections.os = {
  ["sleep wait"] = "use perilune.sleep(duration)", ["env environ"] = "use os.getenv(name)", ["args argv"] = "use the global `arg`",
  ["now today"] = "use perilune.now(), or os.time() for seconds",
}
sections.io = {
  ["read_file readfile file_read"] = "use io.open(path):read(\"a\")", ["write_file writefile"] = "use io.open(path, \"w\"):write(text)",
  ["read_lines readlines"] = "use io.lines(path)",
  ["exists file_exists"] = "io.open(path) returns nil and the reason if the file cannot be read",
}
sections.override = {
  ["db default_database"] = "use { database = other }",
  ["now clock time date seed random"] = "scenarios have t.clock:set(instant) and the option `seed`",
}
sections.maker = {
  ["build create new insert make one"] = "use t.make.table{ column = value }",
  ["list create_list build_list times"] = "use t.make.table:many(3)",
}
sections.event = {
  ["type kind op action event name operation_type change_type event_type"] = "use event.operation: \"insert\", \"update\" or \"delete\"",
  ["rowid id key primary_key pk row_key"] = "use event.row_id, or event.new.id",
  ["table_name tablename model class"] = "use event.table",
  ["old_row before previous original old_values former prior"] = "use event.old, the row before the change",
  ["new_row after row record values data current new_values item"] =
    "use event.new, the row after the change, or event.old for a deleted row",
  ["columns changes changed changed_columns diff fields"] = "compare event.old.column and event.new.column",
  ["db database connection"] = "on_change must not use the database; did_commit = function(db) ... end may",
  ["time date timestamp"] = "use perilune.now()",
  ["is_insert is_update is_delete inserted updated deleted"] = "use event.operation == \"insert\"",
}
sections.changed_row = {
  ["type kind op action event"] = "use row.operation: \"insert\", \"update\" or \"delete\"",
  ["id rowid row_id pk primary_key"] = "use row.key, the values of the key by column",
  ["table_name"] = "use row.table",
  ["row record values data after new_row changes changed columns"] = "use row.new, the new values, and row.old",
  ["before previous old_row"] = "use row.old, the old values",
}
sections.plan = {
  ["detail text description step"] = "a plan is a list of steps: plan[1].detail, and tostring(plan) for all of them",
  ["uses_index has_index index scan is_scan full_scan scans find match plan contains"] =
    "use tostring(plan):find(\"SCAN\", 1, true), in which SEARCH stands for an index",
  ["print to_string tostring dump lines"] = "use print(plan), or tostring(plan)",
  ["nodes steps rows items"] = "use `for _, step in ipairs(plan) do`, with step.detail and step.children",
  ["cost time duration analyze"] = "SQLite estimates no costs; step.detail describes the step",
}
sections.enum = {
  ["has contains includes is_valid valid is member"] = "use pcall(Enum.from, Enum, raw), or compare with a case",
  ["parse get from_raw from_value value_of find by_value of lookup"] = "use Enum:from(raw) for the case with a stored value",
  ["from_name by_name from_key from_string"] = "read the case by its name, Enum.name or Enum[name]",
  ["count size length len"] = "use #Enum:cases()",
  ["values all names keys list to_list to_table items each iter"] = "use Enum:cases() for a list of all",
}
sections.transaction = {
  ["date timestamp created_at at"] = "use transaction.time", ["user author who comment message description name"] = "use transaction.note",
  ["transaction transaction_id key"] = "use transaction.id",
}
sections.open_blob = {
  ["tell position"] = "use blob:seek(\"cur\", 0)", ["rewind"] = "use blob:seek(\"set\", 0)",
  ["flush sync truncate resize"] =
    "a write takes effect at once, and a blob keeps its size; store zeroblob(size) with UPDATE for another size",
  ["to_string tostring data read_all get contents text"] = "use blob:read(), which returns the bytes to the end",
  ["readonly is_readonly"] = "the option write = true of db:open_blob allows writing", ["lines rows ipairs"] = "use blob:pieces(size)",
  ["length len bytes count"] = "use blob:size()", ["iter chunks each"] = "use blob:pieces(size)",
}
sections.date = {
  ["month_names day_names weekday_names"] = "dates have no names in words; use a list of your own",
  ["is_valid valid validate try_parse"] = "use pcall(perilune.date, text)",
  ["utc"] = "use perilune.date{ year = 2026, month = 3, day = 1 }, which is in UTC",
  ["local_ from_local local_time of_local make_local localize zone in_zone timezone time_zone with_zone from_zone mktime"] =
    "use perilune.date_components(\"2026-03-31 09:30\"):date(\"Europe/Berlin\"), or :date(\"local\")",
  ["range between each sequence"] = "use a loop with date = date:add{ days = 1 }",
  ["compare min max equals is_before is_after before after"] = "compare dates with <, <=, == and >",
  ["parse from_string from_text of new create make from_iso8601 fromisoformat from_iso parse_iso strptime"] = "use perilune.date(\"2026-03-01\")",
  ["now today utcnow utc_now current current_date"] = "use perilune.now(), or perilune.now():start_of(\"day\")",
  ["from_timestamp fromtimestamp from_seconds from_epoch timestamp from_unix_seconds from_time at"] = "use perilune.date.from_unix(seconds)",
  ["from_components components from_parts from_ymd date ymd from_fields from_table"] = "use perilune.date{ year = 2026, month = 3, day = 1 }",
  ["is_date isdate is_a"] = "use perilune.date.is(value)", ["format strftime iso8601 tostring"] = "use date:format(\"%Y-%m-%d\") on a date",
  ["add diff sub subtract add_days"] = "use date:add{ days = 1 }, and date:seconds_since(other), on a date", ["time os_time"] = "use perilune.now().unix",
}

sections.json = {
  ["is_array is_object type"] = "use perilune.json.array(list) and perilune.json.object(members) for marks",
  ["extract get path"] = "use perilune.json.decode(text).name",
  ["decode_file load_file read_file"] = "use perilune.json.decode(io.open(path):read(\"a\"))",
  ["valid validate is_valid"] = "use pcall(perilune.json.decode, text)",
  ["pretty pretty_print"] = "use perilune.json.encode(value), which has one form",
  ["stringify dump dumps to_json serialize tojson encode_pretty"] = "use perilune.json.encode(value)",
  ["parse load loads from_json deserialize read"] = "use perilune.json.decode(text)",
  ["from_database to_database"] = "the type of a column is a name: types = { column = \"json\" }",
  ["null none"] = "use perilune.null", ["list empty_array as_array"] = "use perilune.json.array(list)", ["dict empty_object map"] = "use perilune.json.object(members)",
}
sections.log = {
  ["warn"] = "use perilune.log.warning(message, fields)", ["err fatal exception"] = "use perilune.log.error(message, fields)", ["verbose"] = "use perilune.log.debug(message, fields)",
  ["print log write message"] = "use perilune.log.info(message, fields)", ["crit panic emergency alert"] = "use perilune.log.critical(message, fields)",
  ["level set_level"] = "the host sets the level (perilune run --log-level LEVEL)",
}

sections.perilune = {
  ["array list as_array"] = "use perilune.json.array(list) for JSON; a list is a table, { 1, 2 }",
  ["attach"] = "use db:execute(\"ATTACH DATABASE ? AS name\", path)",
  ["serialize"] = "use db:serialize(), or perilune.json.encode(value)",
  ["random_string random_text token random_token"] = "use perilune.uuid()",
  ["typeof kind_of type_of"] = "use type(value), or perilune.storage_class(value)",
  ["mode is_test is_preview is_live is_testing"] = "use perilune.context: \"live\", \"test\" or \"preview\"",
  ["backup backup_to"] = "use db:backup_to(target)",
  ["disable enable disable_automation enable_automation"] = "use automation:disable() or automation:enable()",
  ["get_automation find_automation automation_named"] =
    "use `for _, automation in ipairs(perilune.automations()) do`, with automation.name",
  ["durable durable_run saga"] = "use perilune.automation{ durable = true, ... }, whose run has run:step(name, f)",
  ["cache store kv key_value kvstore memo redis storage local_storage"] = keeping,
  ["ago from_now before_now since"] = "use perilune.now():add{ days = -3 }, or a positive number for a later time",
  ["json_extract json_get json_value json_path"] = "use Class.c.column:json(\"name\"), or Class.c.column:json(\"$.a.b\")",
  ["timers"] = "use perilune.after(delay, f), perilune.every(period, f) or perilune.schedule(\"0 9 * * mon-fri\", f)",
  ["debounce throttle"] = "keep the result of perilune.after(delay, f), and call timer:cancel() before the next one",
  ["with_timeout deadline"] = "use perilune.after(\"5s\", function() task:cancel() end) with a task of perilune.spawn",
  ["next_tick soon call_soon set_immediate"] = "use perilune.spawn(f)",
  ["yield"] = "use perilune.sleep(0)",
  ["channel semaphore"] = "tasks run one at a time and share variables; use perilune.jobs(name) with the option concurrency for limits",
  ["vector_distance distance cosine similarity vector_search"] = "use Class:nearest(column, vector, count)",
  ["embedding vectors float_array"] = "use perilune.vector{ 0.5, 1.5 }",
  ["zeroblob zero_blob"] = "use perilune.blob((\"\\0\"):rep(count))",
  ["union union_all intersect except"] = "use a method of a request: first:union(second), or first | second for requests of one class",
  ["not_exists"] = "use ~perilune.exists(request)",
  ["subquery aliased alias"] = "a request can be a value or list, Class.c.id:is_in(request:select(\"id\")); use Class:aliased(name) to join a table with itself",
  ["unique unique_constraint unique_key"] = "use t:unique_key{ \"column\" } in db:create_table, and request:distinct() for distinct rows",
  ["validates validators"] = validations,
  ["enumerate"] = "use ipairs(list)", ["sleep_ms"] = "use perilune.sleep(0.5), in seconds, or perilune.sleep(\"500ms\")",
  ["Database open connect connection sqlite sqlite3 open_memory memory database_open open_database new new_database db_open engine create_engine database_queue "
    .. "in_memory open_v2 open_ptr environment new_connection create_database file"] = "use perilune.queue(path), or perilune.pool(path); without a path the database is in memory",
  ["database_pool connection_pool"] = "use perilune.pool(path)",
  ["Record model class define entity schema register define_model declare record_class base create_model new_model new_class mapper models record_type orm table_class"] =
    "use perilune.record(\"table\")",
  ["table"] = "use perilune.record(\"table\") for a table of the database, and print(value) or perilune.json.encode(value) to show a value",
  ["decimal Decimal numeric money bigdecimal big_decimal currency"] =
    "Lua and SQLite have no decimal numbers; store the smallest unit as an integer (cents), or a text",
  ["map filter reduce each for_each find_index flat_map fold keys values merge extend range zip"] =
    "use a loop: for _, element in ipairs(list) do ... end",
  ["col field c f F column_named ref"] = "use perilune.column(name), or Class.c.name",
  ["raw literal text raw_sql unsafe expr expression literal_sql fragment q sql_text"] = "use perilune.sql(text, ...)",
  ["func functions call function_"] = "use perilune.fn.name(...)",
  ["param bind placeholder bindparam arg"] = "use perilune.parameter(name)",
  ["and_ or_ not_ and or not any"] = connectives,
  ["all"] = connectives .. "; perilune.spawn(f) starts tasks, and task:wait() waits for each",
  ["asc desc"] = "use Class.c.column:asc() and Class.c.column:desc()",
  ["sum avg average max min total"] = "use Class.c.column:sum(), :average(), :min() or :max() in a selection, or Class:sum(\"column\") for the value",
  ["if_ iif switch case_when"] = "use perilune.case{ { condition, value }, otherwise = value }",
  ["when"] = "use perilune.case{ { condition, value }, otherwise = value } in SQL, perilune.automation{ name = ..., on = ..., run = function ... end } for events",
  ["lower upper coalesce length round abs concat substr ifnull nullif group_concat strftime replace trim"] = "use perilune.fn.name(...), or the method of a column: Class.c.name:lower()",
  ["cast"] = "use Class.c.column:cast(type)",
  ["transaction write begin atomic commit rollback in_transaction savepoint"] = transactions, ["read"] = "use db:read(function(db) ... end)",
  ["query fetch_all select fetch_one fetch_value rows execute exec run fetch get"] = "use the methods of the database, as in db:fetch_all(sql, ...) and db:execute(sql, ...)",
  ["migrate migration migrations add_migration register_migration schema_migrations"] = "use perilune.migrator(), or migration files and `perilune migrate`",
  ["create_table drop_table alter_table create_index"] = "use db:create_table(name, function(t) ... end); likewise alter_table, drop_table and create_index",
  ["set_timeout timeout delay later set_time_out defer schedule_after run_later run_after timer call_later call_after once_after"] = "use perilune.after(delay, f)",
  ["set_interval interval repeat_ repeating repeat_every tick ticker loop recurring"] = "use perilune.every(period, f)",
  ["clear_timeout clear_interval cancel"] = "keep the result of perilune.after or perilune.every, and call timer:cancel()",
  ["cron crontab schedule_at daily schedule_cron"] = "use perilune.schedule(\"0 9 * * mon-fri\", f)",
  ["wait pause delay_for usleep sleep_for"] = "use perilune.sleep(duration)",
  ["go async task thread coroutine fork start run_async parallel launch detach"] = "use perilune.spawn(f, ...)", ["await join gather wait_all race"] = "use task:wait() on the result of perilune.spawn",
  ["signal_handler on_interrupt trap"] = "use perilune.on_signal(name, f)", ["error_handler catch set_error_handler"] = "use perilune.on_error(f)",
  ["time timestamp utcnow current_time clock unix_time"] = "use perilune.now(), perilune.now().unix for seconds", ["today current_date"] = "use perilune.now():start_of(\"day\")",
  ["datetime local_date parse_date to_date from_iso date_from datetime_from new_date make_date"] = "use perilune.date(\"2026-03-01\")",
  ["dates date_time"] = "use perilune.date",
  ["uuid4 new_uuid guid uuid_v4 generate_uuid id new_id"] = "use perilune.uuid()", ["rand randint random_number rand_int"] = "use perilune.random(m, n)",
  ["NULL none nil_ none_ null_value db_null"] = "use perilune.null",
  ["binary bytes buffer"] = "use perilune.blob(bytes)",
  ["error throw fail raise raise_error"] = "use error(message), or error{ kind = \"quota\", message = \"...\" } for an error with fields; perilune.log.error(message, fields) writes to the log",
  ["try protect protected safe_call attempt xpcall pcall rescue"] = "use pcall(f, ...), which returns false and the error object if f raises",
  ["print debug logger info warn warning notice trace"] = "use perilune.log.info(message, fields), and likewise debug, warning and error",
  ["to_json json_encode encode stringify"] = "use perilune.json.encode(value)", ["from_json json_decode decode parse"] = "use perilune.json.decode(text)",
  ["on on_event trigger rule workflow job_ automate on_change listen when_changed"] = "use perilune.automation{ name = ..., on = ..., run = function ... end }",
  ["queue_job enqueue background perform_later"] = "use perilune.jobs(name):enqueue(payload)",
  ["job job_queue"] = "use perilune.jobs(name):handle(function(payload) ... end) to run the jobs of a queue, and perilune.jobs(name):enqueue(payload) to add one",
  ["worker workers job_handler process_jobs handle_jobs work handle handler process consume consumer define_job on_job handle_job"] = "use perilune.jobs(name):handle(function(payload) ... end)",
  ["send publish dispatch fire emit_event trigger_event"] = "use perilune.emit(name, data)",
  ["observe watch subscribe"] = "use db:observe(fetch, callback), or request:observe(callback)",
  ["cte with_cte recursive with_recursive common_table_expression"] = "use perilune.common_table(name, request)",
  ["fts fts_pattern full_text_pattern pattern match_query"] = "use perilune.fts5_pattern(text, kind)",
  ["enumeration choices enums"] = "use perilune.enum{ ... }", ["type custom_type types type_ converter"] = "use perilune.value_type{ ... }, perilune.enum{ ... } or a name such as \"date\"",
  ["db default_database current_database main connection_default get_database databases"] = "use perilune.database, or the global `db`",
  ["use using set_database with_database set_default_database bind_database use_database"] = "use perilune.with({ database = other }, function() ... end)",
  ["singleton settings config preferences single_record"] = "use perilune.single_row(\"table\")",
  ["lock mutex"] = "use db:write(function(db) ... end), which excludes other writers", ["env getenv environ"] = "use os.getenv(name)",
  ["excluded_"] = "use perilune.excluded.column", ["validate validator"] = validations, ["include including"] = including,
  ["func_count count_all count_star"] = "use perilune.count()", ["exists_"] = "use perilune.exists(request)",
  ["relationship has_many belongs_to"] = "use Class:has_many(Target) and Class:belongs_to(Target)",
  ["import require load_module"] = "use require(\"module\")", ["version"] = "the command `perilune --version` shows it", ["args argv arguments"] = "use the global `arg`",
  ["retry retrying with_retry retries"] = "use the option `retry` of automations, `attempts` of jobs, or pcall in a loop",
  ["undo redo audit versions versioning paper_trail"] = "use perilune.history(Class), which keeps all versions and undoes transactions",
  ["preview dry_run simulate plan"] = "use `perilune run --preview FILE`, or db:record_changes(function(db) ... end), which returns a changeset",
  ["freeze travel travel_to set_now mock_time freeze_time fake_clock"] = "use t.clock:set(instant) in a scenario", ["exit quit stop"] = "use os.exit(code)",
  ["help docs man reference"] = "use the command `perilune help NAME`", ["argument parameters_ option options get_arg"] = "use the global `arg`, or the values of `...`",
  ["inspect dump pp pretty print_table pretty_print show"] = "use print(value) for records and rows, perilune.json.encode(value) for lists and other tables",
  ["duration seconds minutes hours days interval_of timedelta period"] = "durations are texts, as in perilune.sleep(\"1h30m\"), or tables for dates: date:add{ days = 1 }",
  ["read_file open_file write_file readfile file_read fs read_lines"] = "use io.open(path), or io.lines(path)",
  ["load load_file dofile run_file run_script include_file"] = "use dofile(path), or require(\"module\")",
  ["csv import_csv read_csv export_csv export from_csv import_file export_json xlsx to_csv"] = "use the command `perilune import FILE --table NAME`, and `perilune query --format csv` for output",
  ["hash sha256 md5 sha1 hmac encrypt digest crypto base64"] = "modules of the host provide such functions",
  ["model_of record_of repository_ insert update delete find_ save"] = "use a class: local Class = perilune.record(\"table\"); Class:insert{ column = value }",
  ["lag lead first_value last_value nth_value"] = "use the method of a column: Class.c.column:lag():over{ order_by = \"column\" }",
  ["distinct"] = "use request:distinct(), or Class.c.column:count():distinct() in a selection",
  ["at_exit on_exit atexit on_shutdown"] = "use a variable with <close>, or perilune.on_signal(\"TERM\", f)",
  ["diff inverse"] = "use db:record_changes(function(db) ... end), which returns a changeset", ["fetch_url http request"] = "modules of the host give access to other programs",
}

-- Options -------------------------------------------------------------------------------------------------------------------------------

--- The options for conflicts and returned columns, of verbs whose other names are more likely columns than options.
sections.conflict_option = {
  ["unique_by conflict_target on_conflict_columns conflict_columns index_elements conflict unique_columns key_columns uniqueness conflict_fields unique_fields"] =
    "use the option `target` of upsert",
  ["update_only do_update set_ update_fields update_columns on_duplicate_key_update"] = "use the option `update` of upsert: a list of columns, or columns with values",
  ["or_replace or_ignore ignore_conflicts ignore_duplicates ignore replace on_duplicate skip_duplicates"] = "use the option on_conflict = \"ignore\" or \"replace\"",
  ["return_ returns return_columns returning_all"] = "use the option `returning`",
}

sections.option = {
  ["if_not_exist ifnotexists exists_ok"] = "use the option `if_not_exists`", ["temp"] = "use the option `temporary`",
  ["ondelete delete cascade on_deletion"] = "use the option on_delete = \"cascade\"", ["onupdate"] = "use the option on_update = \"cascade\"",
  ["foreign_key fk foreign_keys from"] = "use the option `columns`, the columns of the foreign key", ["references primary_key target_columns to_columns"] = "use the option `referenced`",
  ["class class_name target model source foreign_class"] = "the first argument is the class or the name of its table",
  ["null nullable allow_null not_null required"] = "use the method: :not_null()", ["default default_value"] = "use the method: :default(value)",
  ["index indexed"] = "use the method :indexed()", ["unique_"] = "use the method :unique()", ["auto_increment autoincrement_"] = "use the option `autoincrement`",
  ["paranoid acts_as_paranoid deleted_at soft_deletes"] = "use the option soft_delete = \"deleted_at\"", ["created_at updated_at timestamp record_timestamps"] = "use the option timestamps = true",
  ["history audit audited versioned versions paper_trail"] = "use perilune.history(Class), and history:install(db) once",
  ["version optimistic_lock optimistic_locking locking"] = "use the option lock_version = \"column\"", ["enum enums"] = "use the option types = { column = perilune.enum{ ... } }",
  ["pk key id"] = "use the option `primary_key`",
  ["columns fields"] = "list the names of the columns in order", ["validate validations validates constraints rules validators"] = validations, ["hooks callbacks"] = hooks,
  ["limit offset order where filter conditions include includes select group attributes"] = "use a request: Class:filter{ ... }:order(\"column\"):limit(10):fetch_all()",
  ["readonly read_only mode"] = "use the option `read_only`", ["timeout"] = "use the option `busy_timeout`", ["message comment reason"] = "use the option `note`",
  ["immediate exclusive deferred_ kind isolation"] = "use db:in_transaction(kind, function() ... end)", ["column_types casts attribute_types"] = "use the option `types`",
  ["debounce throttle delay wait"] = "use mode = \"restart\" and perilune.sleep in the function, which then runs once after the last event",
  ["cron schedule_at every_day at crontab"] = "use the option `schedule`", ["interval every_ period"] = "use the option `every`", ["to target_version upto"] = "use the option `up_to`",
  ["retry max_retries attempts_ retry_count"] = "use the option `attempts`", ["table"] = "use the option `tables`", ["events event triggers trigger"] = "use the option `on`",
  ["kinds kind_of_change"] = "use the option `operations`", ["action handler callback f function_ do_ body"] = "use the option `run`", ["through_ join_table pivot"] = "use the options through = Class.links, using = Link.target",
}

sections.class_option = {
  ["readonly read_only attr_readonly"] = "use immutable = { \"column\" } for columns that only an insert writes",
  ["counter_cache touch"] = "it is an option of the association: Class:belongs_to(Target, { ... })",
  ["lazy deferred defer lazy_fields"] = "use fields = { column = { lazy = true } }",
  ["ordering default_order order_by default_scope"] = "define function Class.requests:default() return self:order(\"column\") end",
  ["database connection db bind"] = "pass the database to the verb, as in Class:fetch_all(db)",
  ["table_name tablename table"] = "the first argument names the table", ["hidden hide exclude private"] = "use the option `fields`, or select(...) in a request",
  ["relations relationships associations has_many belongs_to has_one"] = "define associations after the class: Class.children = Class:has_many(Child)",
  ["json json_columns jsonb"] = "use the option types = { column = \"json\" }", ["scopes scope"] = "define function Class.requests:name(...) return self:filter{ ... } end",
  ["virtual attributes transient accessors attr_accessor virtual_attributes"] = "use the option `extra` for fields that are not columns",
  ["columns schema"] = "the columns come from the table; use the option `types` for their types, `fields` for their names",
}
sections.association_option = {
  ["optional required null"] = "the column of the foreign key decides whether a row may have none: t:belongs_to(\"table\"):not_null()",
  ["order limit where filter conditions"] = "use a request: Class:has_many(Target):order(\"column\"), or :filter{ ... }",
  ["back_populates backref inverse_of related_name"] = "define the other direction as its own association: Target.parent = Target:belongs_to(Class)",
  ["dependent delete_dependent cascade_delete on_delete"] = "rows are deleted by the reference: t:belongs_to(\"table\", { on_delete = \"cascade\" })",
  ["as alias_"] = "use the option `name`", ["key"] = "use the option `columns`, the columns of the foreign key",
  ["order_by sort scope"] = "use a request: Class:has_many(Target):order(\"column\"), or :filter{ ... }",
}
sections.table_option = {
  ["id"] = "a table has the columns that its function defines, and no others", ["primary_key key pk"] = "use t:primary_key{ \"a\", \"b\" }, or t:column(name, type):primary_key()",
  ["force replace recreate"] = "use db:drop_table(name, { if_exists = true }) first", ["cascade"] = "dropping a table leaves no rows of its own; delete rows that refer to it first",
  ["add add_columns drop rename change"] = "use a function, as in db:alter_table(name, function(t) t:add_column(\"title\", \"text\") end)",
  ["virtual using module fts fts5"] = "use db:create_fts5(name, { columns = { ... } })", ["columns fields"] = "use db:create_table(name, function(t) t:column(\"title\", \"text\") end)",
}
sections.job_counts = {
  ["failed failures errors error"] = "use `dead` for jobs whose attempts are used up", ["pending queued waiting enqueued"] = "use `ready`, or `delayed` for jobs with a later time",
  ["completed succeeded success finished"] = "use `done`", ["active busy processing"] = "use `running`", ["scheduled"] = "use `delayed`", ["total size count"] = "add the counts of the states",
}
sections.queue_option = {
  ["workers threads parallel max_concurrency pool_size"] = "use the option `concurrency`", ["retries retry max_retries max_attempts tries"] = "use the option `attempts`",
  ["database"] = "use the option `db`", ["on_failure on_error failed"] = "use the option `on_dead`", ["retry_delay delay wait"] = "use backoff = { \"1s\", \"1h\" }",
}
sections.retry_option = {
  ["attempts count retries max max_attempts tries limit"] = "use the option `times`", ["delay after backoff interval sleep every pause"] = "use the option `wait`", ["multiplier exponent exponential"] = "use the option `factor`",
}
sections.job_option = {
  ["queue name"] = "perilune.jobs(name) is the queue: perilune.jobs(\"other\"):enqueue(payload)",
  ["after in_ wait run_in delay_for countdown in"] = "use the option delay = \"1h\"", ["run_at time when eta scheduled_at"] = "use the option `at`, a date",
  ["unique unique_key dedupe deduplicate id job_id dedup_key"] = "use the option `key`", ["attempts retries retry max_attempts"] = "perilune.jobs(name, { attempts = 5 }) sets how often each job is tried",
}
sections.write_option = {
  ["validate validations validates skip_validation skip_validations"] = "every write of a record validates it; update_all(...) and SQL write without validation",
  ["columns fields only attributes"] = "use record:update_changes{ column = value }, which writes only the columns that differ",
  ["cascade on_delete dependent"] = "declare the foreign key with t:belongs_to(\"table\", { on_delete = \"cascade\" })", ["touch"] = "use the class option timestamps = true",
}
sections.index_option = { ["condition filter if_ partial"] = "use the option `where`", ["concurrently"] = "an index is created at once; omit it", ["on table"] = "the first argument names the table" }
sections.definition_of_trigger_option = {
  ["for_each_row for_each"] = "triggers run for each row; omit it",
  ["sql body do_ action statement statements execute"] = "use the option `run`",
  ["table"] = "use the option `on`",
  ["timing event"] = "use after = \"insert\", or before, or instead_of",
  ["of update_of column"] = "use the option `columns`",
  ["do then_ call"] = "use the option `run`", ["condition if_ where"] = "use the option `when`", ["abort raise error message"] = "use the option `refuse`" }
sections.reference_option = {
  ["optional null nullable"] = "columns allow NULL unless they are :not_null()", ["required not_null"] = "use the method: :not_null()",
  ["class class_name target model to to_table references foreign_table parent"] = "use the option `table`", ["index"] = "use the option `indexed`",
  ["foreign_key fk column from"] = "use the option `columns`",
}
sections.list_option = { ["batch_size chunk_size batch size"] = "a list of any length is written at once; request:in_batches(size) reads in batches" }
sections.migrator_option = {
  ["migrations"] = "use migrator:register(name, function(db) ... end)", ["path dir directory migrations_path migrations_dir root"] = "use the option `folder`",
}
sections.single_row = {
  ["fetch_one get_row first load read current instance all fetch_all row value fetch singleton"] = "use Class:find(), which returns the row, or an object with the defaults",
  ["get get_value"] = "use Class:find().column", ["set set_value put update_changes write_value change patch"] = "use Class:find():update_changes{ column = value }",
}
sections.window_option = {
  ["rows range groups between"] = "use the option `frame`, as in frame = { rows = { -2, 0 } }", ["partition"] = "use the option `partition_by`",
  ["order"] = "use the option `order_by`",
}
sections.migrating_option = {
  ["up_to version target upto"] = "use the option `to`",
  ["steps step count"] = "use the option `to`, the name of the last migration to keep",
}
sections.scenario_migrating_option = {
  ["down undo rollback revert back reverse"] = "use t.migrate_down(), which undoes the last migration",
}
sections.migrate_option = {
  ["to target version upto target_version"] = "use the option `up_to`",
  ["steps step count"] = "use the option `up_to`, the name of the last migration to run",
  ["dry_run pretend"] = "migrator:pending(db) lists the migrations that would run",
  ["on_apply progress callback log"] = "use the option `did_apply`",
}
sections.key_option = { ["autoincrement auto_increment autoincremented auto identity"] = "use t:auto_incremented_primary_key(\"id\")" }
sections.full_text_option = {
  ["table from source sync sync_with synchronized_with external_content content_table follows"] = "use the option `synchronize_with`",
  ["tokenize tokenizers language"] = "use the option `tokenizer`", ["fields"] = "use the option `columns`",
}
sections.function_option = {
  ["nargs narg n_args num_args num_params argc args count arity parameters params"] = "use the option `arguments`",
  ["is_deterministic pure immutable"] = "use the option `deterministic`",
}
sections.aggregate_option = {
  ["init start seed state zero identity default"] = "use the option `initial`", ["finalize finish result value done final_ finally terminate"] = "use the option `final`",
  ["remove undo reverse"] = "use the option `inverse`", ["accumulate add update reduce"] = "use the option `step`",
  ["arguments count deterministic"] = "the options come before the functions: db:add_aggregate(name, { arguments = 1, deterministic = true }, { step = f })",
}
sections.observation_option = {
  ["immediate fire_immediately initial initially skip_initial skip_first emit_initial lazy"] =
    "the current value comes first; looks_first = true skips it",
  ["debounce throttle delay interval wait"] = "changes of one transaction come together; use perilune.after in the function to wait for more",
  ["tables table columns"] = "use the option `regions`", ["distinct remove_duplicates deduplicate unique"] = "a value that equals the previous one is left out, "
    .. "unless duplicates = true", ["transform"] = "use the option `map`", ["error catch on_failure"] = "use the option `on_error`",
}
sections.transaction_observer_option = {
  ["on_insert on_update on_delete insert update delete"] = "use on_change = f with operations = { \"insert\" }; event.operation is the operation",
  ["table class"] = "use the option `tables`", ["operation events event kinds"] = "use the option `operations`", ["on_commit after_commit commit"] = "use the option `did_commit`",
  ["on_rollback after_rollback rollback"] = "use the option `did_rollback`", ["before_commit"] = "use the option `will_commit`",
  ["callback handler change changes run"] = "use the option `on_change`",
}
sections.handler_option = {
  ["concurrency workers attempts retries max_attempts timeout backoff rate"] = "it is an option of the queue, as in perilune.jobs(name, { concurrency = 2, attempts = 5 })",
}
sections.automation_option = {
  ["disabled active"] = "use the option `enabled`",
  ["id title"] = "use the option `name`",
  ["filter where"] = "use the option `when`, a function that returns whether to run", ["concurrency max_concurrency parallel"] = "use the option `mode`: \"parallel\", \"queued\", \"restart\" or \"single\"",
  ["on_error catch rescue error"] = "use the option `on_failure`", ["catch_up misfire persistent"] = "it is an option of `on`, as in on = { every = \"1h\", catch_up = ... }",
  ["every schedule event change"] = "use the option `on`, as in on = { every = \"1h\" }, on = { schedule = \"0 9 * * mon-fri\" } or on = { change = \"table\" }",
  ["cron interval trigger triggers table tables"] = "use the option `on`, as in on = { every = \"1h\" }, on = { schedule = \"0 9 * * mon-fri\" } or on = { change = \"table\" }",
  ["then do_"] = "use the option `run`", ["retries backoff attempts max_retries max_attempts"] = "use the option `retry`",
  ["timeout"] = "the function has no time limit of its own; the host limits scripts (perilune run --timeout)", ["condition if_ only_if"] = "use the option `when`",
}
sections.trigger_option = {
  ["webhook http"] = "use the option `event`, and perilune.emit(name, data)",
  ["time clock"] = "use the option `schedule`, as in schedule = \"0 9 * * mon-fri\"",
  ["timezone tz time_zone"] = "use the option `zone`", ["startup boot start immediately on_start"] = "use initially = true for a first run at the start",
  ["columns column fields field kind kinds where filter if_"] = "a durable automation decides: durable = true, when = function(run) return run.trigger.operation == \"insert\" end", ["random_delay splay randomized_delay"] = "use the option `jitter`",
  ["insert update delete inserted updated deleted table tables operation operations row record class on_insert on_update on_delete changes changed"] =
    "use change = \"table\", a class or a list of both, or db:observe_transactions{ tables = { ... }, operations = { \"insert\" }, on_change = f }; "
    .. "`initially` determines whether existing rows count",
  ["cron at daily hour"] = "use the option `schedule`, as in schedule = \"0 9 * * mon-fri\"", ["interval period minutes seconds hours"] = "use the option `every`, as in every = \"1h30m\"", ["signal emit message topic"] = "use the option `event`, as in event = \"name\"",
}
sections.scenario = {
  ["fixme broken"] = "use scenario.skip(reason, name, f), or the option `fails`", ["slow"] = "use the option `timeout`", ["parallel serial sequential"] = "use the option `lock`",
  ["xfail expected_failure fails failing"] = "use the option `fails`: scenario(name, { fails = \"reason\" }, function(t) ... end)",
  ["each cases table parametrize with_cases"] = "use the option `cases`: scenario(name, { cases = { { a = 1 } } }, function(t) ... t.case.a ... end)", ["pending xit xscenario disabled"] = "use scenario.skip(reason, name, f)",
  ["focus fit"] = "use scenario.only(name, f)",
}
sections.scenario_option = {
  ["parallel serial isolated exclusive"] = "use the option `lock`",
  ["description doc title"] = "the first argument is the name",
  ["expected_failure xfail should_fail"] = "use the option `fails`, the reason",
  ["freeze frozen time_ travel_to"] = "use the option `clock`",
  ["skip ignored disabled pending"] = "use scenario.skip(reason, name, function(t) ... end)", ["only focus"] = "use scenario.only(name, function(t) ... end)",
  ["before before_each setup"] = "use before_each(function(t) ... end)", ["after after_each teardown"] = "use after_each(function(t) ... end)",
  ["examples params parameters each parametrize with table_"] = "use the option `cases`", ["date now freeze_time time at today"] = "use the option `clock`",
  ["retries repeat_"] = "use the option `retry`", ["db db_ data fixtures"] = "use the option `template`, or `database`",
}
for _, name in ipairs{ "queue", "retry", "index", "definition_of_trigger", "reference", "class", "association", "table", "migrator", "automation", "trigger", "scenario", "job" } do continued[name .. "_option"] = { "option" } end
continued.durable_run, continued.scenario_migrating_option = { "context" }, { "migrating_option" }
continued.option, continued.write_option, continued.list_option = { "conflict_option" }, { "conflict_option" }, { "conflict_option" }

-- Scenarios -------------------------------------------------------------------------------------------------------------------------------

sections.expectation = {
  ["any anything"] = "use expect.no(value):is_nil(), and `*` in text tables for any value except NULL",
  ["contains_all has_all to_contain_all"] = "use expect(list):contains(element) for each",
  ["eventually resolves to_resolve becomes"] = "use t.wait_until_idle() first, then expect(value):equals(other)",
  ["with_message message because"] = "use check(condition, message)",
  ["approximately approx_equals"] = "use expect(number):near(other, tolerance)",
  ["satisfies to_satisfy passes"] = "use check(condition)",
  ["is_number is_string is_table is_boolean is_function"] = "use check(type(value) == \"string\")",
  ["same_items equals_any_order equals_in_any_order any_order contains_exactly in_any_order has_same_items match_array items_equal to_have_members same_members"] =
    "sort both lists first, as in table.sort(list) and expect(list):equals(other); rows_any_order compares rows with a text table",
  ["has_key has_field has_property to_have_property"] = "use expect(value):covers{ field = value }, or check(value.field ~= nil)",
  ["to_be_instance_of be_a be_an to_be_type_of"] = "use check(type(value) == \"string\")",
  ["between is_one_of one_of to_be_one_of in_range is_between to_be_in is_in"] = "use check(condition), as in check(value >= 1 and value <= 5)",
  ["to_have_size have_size has_size size_is"] = "use expect(rows):count(number)",
  ["to_not not_to should_not"] = "use expect.no(value):equals(other)",
  ["all each every all_match sorted is_sorted"] = "use a loop with expect(element):equals(other), or expect(rows):rows[[ ... ]]",
  ["to_equal to_be equal eq is_equal equal_to same toequal tobe to_eq should_equal deep_equals to_be_equal are_equal to_equal_to are_same to_deep_equal "
    .. "same_as be equals_to to_strict_equal"] = "use expect(value):equals(other)",
  ["not_equals not_equal not_ to_not_equal ne not_to_equal is_not differs are_not_equal not_to_be isnt"] = "use expect.no(value):equals(other)",
  ["to_contain includes include has to_include contain to_have contains_text to_match_substring"] = "use expect(value):contains(part), or expect(value):covers{ field = value } for some fields of a table",
  ["to_match match like regex to_match_pattern starts_with ends_with has_prefix has_suffix begins_with to_start_with to_end_with"] = "use expect(value):matches(pattern), with a Lua pattern such as \"^text\"",
  ["to_be_nil nil_ be_nil to_be_null is_null to_be_none null is_none to_be_undefined to_be_falsy"] = "use expect(value):is_nil()",
  ["is_not_nil to_exist exists not_nil to_be_defined is_some to_be_truthy present to_not_be_nil"] = "use expect.no(value):is_nil()",
  ["is_true to_be_true true_ be_true truthy is_truthy ok"] = "use check(value), or expect(value):equals(true)", ["is_false to_be_false false_ falsy be_false"] = "use expect(value):equals(false)",
  ["to_throw throws raises error errors has_error to_error to_raise fails error_matches has_no_error to_fail_with"] = "use expect_error(function() ... end, message)",
  ["close_to is_close_to to_be_close_to almost_equals approx near_to within about"] = "use expect(number):near(other, tolerance)",
  ["has_length length size len to_have_length has_count count_is have_count"] = "use expect(rows):count(number)", ["empty to_be_empty be_empty"] = "use expect(value):is_empty()",
  ["greater_than gt is_greater_than is_less_than is_at_least is_at_most to_be_greater_than less_than lt at_least ge le above below to_be_less_than"] = "use check(value > 5), as in check(#queries >= 1) for a list",
  ["has_row contains_row has_rows_like include_rows"] = "use expect(rows):has_rows[[ ... ]]", ["to_equal_rows rows_equal table equals_rows same_rows"] = "use expect(rows):rows[[ ... ]]",
  ["to_match_snapshot matches_snapshot to_match_inline_snapshot inline_snapshot"] = "use expect(value):snapshot(name)", ["called was_called called_with called_times to_have_been_called to_have_been_called_with to_have_been_called_times"] = "use expect(t.effects.module:calls(name)):equals{ { arguments }, ... }, or t.effects.module:stub(name, value):once()", ["is_a type is_type a an instance_of to_be_a"] = "use check(type(value) == \"string\")",
  ["to have been is_ and_"] = "matchers are methods: expect(value):equals(other)", ["no never no_"] = "use expect.no(value):equals(other)", ["subset to_match_object has_fields like_table matches_table contains_fields"] = "use expect(value):covers{ field = value }",
}
sections.aspect = {
  ["error_code type error_kind class"] = "use kind = \"constraint_unique\"",
  ["code status errno"] = "use kind = \"constraint_unique\" for errors of Perilune, or compare the returned error, as in check(expect_error(f).code == 5)", ["pattern text matches msg match"] = "use message = \"a Lua pattern\"",
}
sections.template_option = {
  ["base from parent extends template inherits based_on"] = "use the option `on`, the name of a template", ["database"] = "use the option on = \"empty\"",
}
sections.service = {
  ["emit fire publish"] = "use perilune.emit(name, data), which reaches durable automations; for others, require the file in the scenario instead of t.service",
  ["signal send_signal"] = "use perilune.signal(automation, key, name, data)",
  ["run_automation run_now trigger perform execute start_run"] =
    "an automation runs when its trigger occurs: perilune.emit(name, data), a change of its table, or t.clock:advance(duration) for a schedule",
  ["run"] = "use t.clock:advance(duration) until an automation is due, or service:start() after service:stop()",
  ["restart boot launch"] = "use service:start(), after service:stop() or service:kill()", ["crash terminate kill_9 sigkill abort"] = "use service:kill()",
  ["shutdown close quit cancel sigterm"] = "use service:stop()", ["wait wait_until_idle settle drain join"] = "use service:run_until_idle(), or t.wait_until_idle()",
  ["runs jobs status errors history failures outcomes automation automations"] =
    "the service uses the database of the scenario: query its table perilune_automation_run with t.db:fetch_all(sql), or use perilune.jobs(name)", ["running is_alive alive"] = "use service:is_running()",
  ["logs log stdout print printed"] = "use service:output()",
}
sections.service_option = {
  ["allow_failures allow_failure ignore_failures ignore_errors allow_errors may_fail fails expect_failure expect_failures errors"] =
    "use the option failures = \"allow\"",
}
sections.job = {
  ["data args arguments params parameters"] = "use job.payload, or its fields directly, as in job.to",
  ["attempts tries retries retry_count attempt_count"] = "use job.attempt",
}
sections.clock = {
  ["tick run_for advance_by tick_by advance_time advance_timers_by_time increment progress step proceed later after travel_by shift wind run_until pass_time"] =
    "use t.clock:advance(duration)",
  ["travel sleep wait forward fast_forward move pass elapse skip add wait_for jump"] = "use t.clock:advance(duration)",
  ["freeze set_time at travel_to set_now jump_to set_date advance_to advance_until move_to go_to"] = "use t.clock:set(instant)", ["time get date today"] = "use t.clock:now()", ["run_all run_pending next run_to_last flush run_only_pending_timers run_next"] = "use t.clock:advance(duration), which calls each timer that is due",
}
sections.effects = {
  ["twice thrice exactly exact exactly_times called_times has_been_called_times"] = "use t.effects.module:stub(name, value):times(2)",
  ["with with_args then_return raises throws fails rejects and_call_fake and_raise on_call"] =
    "use a function as the value, stub(name, function(...) ... end), which computes the result from the arguments or raises an error",
  ["reset clear reset_calls reset_mock restore verify unstub"] = "each scenario starts without stubs and calls",
  ["last_call first_call nth_call"] = "use t.effects.module:calls(name), a list",
  ["mock returns return_value and_return will_return fake replace override when"] = "use t.effects.module:stub(name, value)",
  ["called was_called have_been_called called_with received invocations call_count count to_have_been_called"] = "use t.effects.module:calls(name), or :once(), :times(count) and :never() on it",
}

sections.scenario_global = {
  ["property for_all forall prop check_property quickcheck fuzz"] = "use a loop with perilune.random(m, n), which follows the seed; `perilune test --stress 100` runs it with other seeds",
  ["tags tag mark"] = "use the option `tags`: scenario(name, { tags = { \"slow\" } }, function(t) ... end)",
  ["expect_not expect_false expect_no"] = "use expect.no(value):equals(other)",
  ["expect_equal expect_equals expect_eq expect_that expect_true"] = "use expect(value):equals(other), or check(a == b)",
  ["async test_async"] = "use perilune.spawn(f) in a scenario, which may wait anyway",
  ["scenario"] = "use scenario(name, function(t) ... end)",
  ["when then step and_"] = "use t.step(name, f) in a scenario",
  ["describe context suite insulate expose feature scenarios"] = "use group(name, function() ... end)",
  ["scenario_outline scenario_template outline examples"] = "use the option `cases` of scenario",
  ["background"] = "use before_each(function(t) ... end)", ["expect_no_error assert_no_error assert_no_throw"] = "call the function itself: an error fails the scenario",
  ["eventually wait_until"] = "use t.wait_until_idle(), or t.clock:advance(duration)", ["soft_expect soft_assert"] = "use expect.soft(value)",
  ["anything any match like"] = "use expect(value):covers{ field = value } to check only some fields, and `*` in text tables for any value",
  ["it test specify example should test_case def_test"] = "use scenario(name, function(t) ... end)",
  ["assert_equal assert_equals assert_eq assert_same assert_is assert_match assert_nil assert_not_equal assert_table_equals lu luaunit eq equals should_equal is"] =
    "use expect(value):equals(other), or check(a == b)",
  ["assert_true assert_false assert_not_nil assert_that ensure must verify ok"] = "use check(value)",
  ["assert_error assert_raises assert_throws with_raises with_error expect_errors expect_to_fail raises throws"] = "use expect_error(function() ... end, message)",
  ["before before_each before_all setup set_up setup_all lazy_setup strict_setup"] = "use before_each(function(t) ... end)",
  ["after after_each after_all teardown tear_down lazy_teardown strict_teardown"] = "use after_each(function(t) ... end)",
  ["spy stub mock fake"] = "use t.effects.module:stub(name, value) and t.effects.module:calls(name)",
  ["skip pending xit xdescribe xtest xscenario skip_scenario todo"] = "use scenario.skip(reason, name, function(t) ... end)", ["fit fdescribe fscenario only"] = "use scenario.only(name, function(t) ... end)",
  ["fail flunk"] = "use error(message), or check(false, message)", ["finally defer cleanup"] = "use t.defer(f)", ["given make run clock effects"] = "use the context of the scenario: t.given, t.make, t.run, t.clock, t.effects",
  ["sequence seq"] = "use factory(table, { column = function(n, t) return \"Customer \" .. n end }), where n counts the rows",
  ["let let_it_be subject"] = "use fixture(name, function(t) return value end), and t.fixtures.name in a scenario",
  ["parametrize each test_each cases"] = "use the option `cases` of scenario", ["sleep wait"] = "use t.clock:advance(duration)",
}

sections.scenario_t = {
  ["timeout retry tags"] = "use the option of scenario: scenario(name, { timeout = \"5s\", retry = 2, tags = { \"slow\" } }, function(t) ... end)",
  ["params parameters args arguments example"] = "use t.case, the current case of the option `cases`",
  ["query_count count_queries sql_queries"] = "use t.queries(function() ... end)",
  ["name title file description"] = "a script knows its scenario by t.case and t.seed; the name is not passed",
  ["equal same ok is_true truthy is deep_equal"] = "use the globals expect(value):equals(other), check(value) and expect_error(f)",
  ["travel_to travel_back freeze_time freeze at today set_time"] = "use t.clock:set(instant)", ["transaction"] = "use t.db:write(function(db) ... end)",
  ["http request fetch get post"] = "use t.effects.module:stub(name, value) for functions that a script calls", ["todo"] = "use scenario.todo(name)",
  ["subtest run_test section"] = "use t.step(name, f)", ["random rand"] = "perilune.random(m, n) follows the seed of the scenario",
  ["expect assert check assert_equal equals eq"] = "use the globals expect(value):equals(other), check(value) and expect_error(f)",
  ["run_script call script start"] = "use t.run(path, arguments)",
  ["execute exec sql run_sql load_sql load_file load"] = "use t.db:execute(sql, ...)", ["emit trigger"] = "use perilune.emit(name, data)", ["signal send_signal"] = "use perilune.signal(automation, key, name, data)",
  ["property for_all forall prop check_property quickcheck fuzz"] = "use a loop with perilune.random(m, n), which follows the seed; `perilune test --stress 100` runs it with other seeds", ["only focus"] = "use scenario.only(name, function(t) ... end)",
  ["crash kill"] = "use the option `crash` of scenario, or service:kill() of t.service(path)", ["set_env env input stdin"] = "scripts get arguments, t.run(path, { ... }), and functions of modules by t.effects.module:stub(name, value)",
  ["capture_output output capture stdout"] = "use t.run(path).output, or t.service(path):output() for the output of timers and automations too", ["automations automation services observe start_automations run_automations"] = "use t.service(path), and t.clock:advance(duration) for its timers; or t.run(path)", ["fn func"] = "use t.effects.module:stub(name, value), and t.effects.module:calls(name)", ["fetch_all fetch_one fetch_value query"] = "use the database: t.db:fetch_all(sql, ...)",
  ["database"] = "use t.db", ["time now advance travel"] = "use t.clock: t.clock:advance(duration), or t.clock:set(instant)", ["many make_many create_list build_list list"] = "use t.make.table:many(3, { column = value })", ["insert factory create build"] = "use t.make.table{ column = value }, or t.given.table{ column = value }",
  ["mock stub fake spy stubs patch replace monkeypatch override intercept"] = "use t.effects.module:stub(name, value)", ["log print comment message info"] = "use t.note(...)",
  ["cleanup add_cleanup add_teardown teardown after finally on_end addfinalizer add_finalizer"] = "use t.defer(f)", ["before setup before_each"] = "use before_each(function(t) ... end) at the top of the file",
  ["wait sleep wait_for settle eventually wait_until until_ await drain flush"] = "use t.wait_until_idle(), or t.clock:advance(duration)", ["rollback"] = "each scenario has its own database, which needs no rollback",
  ["throws fails expect_error run_failing try pcall"] = "use expect_error(function() ... end, message), or t.run_protected(path)", ["pending"] = "use t.skip(reason)",
  ["describe context it test"] = "use scenario(name, body) and group(name, body) at the top of the file", ["snapshot"] = "use expect(value):snapshot(name)",
  ["fail error_ flunk abort"] = "use error(message), or check(false, message)",
}

-- Words -------------------------------------------------------------------------------------------------------------------------------

--- The fallback for names that are not listed and do not resemble an existing name: words that such a name may contain, the most specific
-- first. Each has the listed name whose replacement is suggested.
local words = {}

for section, text in pairs{
  request = "first=first one=first single=first sole=first last=last latest=last oldest=last paginate=paginate page=paginate pages=paginate "
    .. "chunk=batches chunks=batches batch=batches batched=batches each=each stream=each lazy=each lock=lock not=exclude negate=exclude "
    .. "where=where filter=where exist=any exists=any any=any has=any count=count sum=sum_of avg=avg min=minimum max=maximum group=group_by "
    .. "sort=sort order=sort then=sort desc=reverse random=random shuffle=random sample=random top=take tail=last skip=skip join=joins "
    .. "joining=joins include=includes eager=includes with=annotate annotate=annotate computed=annotate columns=only values=values pluck=values "
    .. "string=values upsert=update_or_create update=bulk_update increment=increment_counter delete=destroy_all destroy=destroy_all "
    .. "remove=destroy_all clear=destroy_all drop=destroy_all watch=watch subscribe=watch observe=watch live=watch sql=to_sql query=to_sql "
    .. "alias=as records=to_list list=to_list array=to_list dict=to_list hash=to_list all=to_list map=map fold=map search=match "
    .. "database=using connection=using db=using trashed=unscope scopes=unscope distinct=uniq unique=uniq rank=over get=get find=get key=get",
  class = "validate=validates validation=validates uniqueness=validates hook=before_save scope=scope table=table_name schema=columns "
    .. "cast=types casts=types rollback=transaction commit=transaction transaction=transaction savepoint=transaction tx=transaction "
    .. "insert=new_and_save create=new_and_save",
  database = "transaction=transaction commit=transaction rollback=transaction begin=transaction savepoint=savepoint lock=transaction "
    .. "index=add_index indexes=add_index column=table_info columns=table_info constraint=add_foreign_key unique=add_index tables=table_names "
    .. "table=table_names transform=alter rebuild=alter recreate=alter journal=pragma wal=pragma cache=pragma encoding=pragma timeout=busy_timeout backup=backup restore=backup dump=backup "
    .. "attach=attach detach=attach count=scalar find=first insert=insert upsert=update update=update delete=delete truncate=delete "
    .. "empty=delete function=create_function aggregate=create_aggregate collation=create_collation trace=trace log=trace on=update_hook "
    .. "before=update_hook after=update_hook watch=watch observe=watch live=watch listen=watch subscribe=watch plan=explain_query_plan "
    .. "explain=explain_query_plan connect=open open=open reopen=open connections=open vacuum=vacuum optimize=vacuum analyze=vacuum "
    .. "version=user_version prepare=prepare_statement prepared=prepare_statement retry=busy_timeout rows=query query=query fetch=query "
    .. "read=read_transaction write=transaction cancel=interrupt_all abort=interrupt_all fts=create_fts search=create_fts migrations=migrate "
    .. "schema=schema drop=drop sql=exec execute=exec run=exec",
  perilune = "uuid=uuid4 json=to_json jsonify=to_json stringify=to_json db=open database=open session=open connection=open memory=open "
    .. "model=model record=model table=model class=model column=col col=col expression=raw sql=raw raw=raw literal=raw param=param null=NULL "
    .. "undefined=NULL timestamp=time now=time today=time datetime=parse_date date=parse_date delay=set_timeout defer=set_timeout wait=wait "
    .. "seconds=wait every=set_interval repeat=set_interval daily=cron weekly=cron cron=cron job=queue_job worker=queue_job perform=queue_job "
    .. "task=go thread=go parallel=go async=go promise=go future=go on=on listener=on trigger=on step=on event=send signal=on "
    .. "migration=migrate migrations=migrate migrate=migrate schema=create_table rand=rand random=rand log=print print=print printf=print "
    .. "config=settings settings=settings options=settings env=env transaction=transaction query=query version=version",
} do
  words[section] = {}
  for word, name in text:gmatch("(%w+)=([%w_]+)") do table.insert(words[section], { word, name }) end
end

-- Finding names -------------------------------------------------------------------------------------------------------------------------

local other_names = { sections = sections, words = words }

--- Each section by single names, filled on first use.
local by_name = {}

local function names_of(section)
  local names = by_name[section]
  if names then return names end
  names = {}
  for list, use in pairs(sections[section] or {}) do
    for name in list:gmatch("%S+") do names[name] = use end
  end
  by_name[section] = names
  return names
end

--- Returns a name in snake_case, without underscores at its end.
local function snake(name)
  return (name:gsub("(%l)(%u)", "%1_%2"):lower():gsub("%-", "_"))
end

local function by_pattern(list, name, is_column)
  for _, pattern in ipairs(list or {}) do
    local part = name:match(pattern[1])
    if part and (pattern[3] or is_column and is_column(part)) then return (pattern[2]:gsub("%%s", part)) end
  end
end

--- Returns the replacement of a name, to be appended to a message; nil if none is known.
-- @tparam string section the kind of object: "class", "request", "record", ...
-- @tparam string name
-- @tparam ?function is_column returns whether the object has a column of that name
function other_names.find(section, name, is_column)
  if type(name) ~= "string" then return nil end
  local folded = snake(name)
  local plain = folded:gsub("_+$", "")
  for _, spelling in ipairs{ name, folded, plain } do
    local use = names_of(section)[spelling]
    if use then return use end
  end
  local use = by_pattern(patterns[section], folded, is_column)
  for _, other in ipairs(continued[section] or {}) do use = use or other_names.find(other, name, is_column) end
  return use
end

--- Returns the fields for an error that suggests a replacement: `advice`, the text, and `suggestion`, the first existing name in the text.
-- @tparam {string,...} names the existing names
function other_names.fields(name, use, names)
  local known, suggestion = {}, nil
  for _, existing in ipairs(names) do known[existing] = true end
  for word in use:gmatch("[%w_]+") do suggestion = suggestion or known[word] and word or nil end
  return { name = name, advice = use, suggestion = suggestion }
end

--- Returns the replacement for a word in a name; nil if no word is known.
local function by_word(section, name)
  local is_in = {}
  for word in snake(name):gmatch("[^_]+") do is_in[word] = true end
  for _, entry in ipairs(words[section] or {}) do
    if is_in[entry[1]] then return other_names.find(section, entry[2]) end
  end
  for _, other in ipairs(continued[section] or {}) do
    local use = by_word(other, name)
    if use then return use end
  end
end

--- Raises for an unknown name, with its replacement, or with the nearest existing name.
-- @tparam string what "method", "option", ...
-- @tparam {string,...} names the existing names
function other_names.raise(section, what, name, names, is_column)
  local use = other_names.find(section, name, is_column)
  if not use then
    local _, err = pcall(errors.raise_unknown, what, name, names)
    use = type(name) == "string" and not err.suggestion and by_word(section, name)
    if not use then error(err, 0) end
  end
  -- A function has only a few options, so an option with a similar name was more likely meant than one of another library.
  if what == "option" then
    local _, err = pcall(errors.raise_unknown, what, name, names)
    local option, is_known = use:match("^use the option `?([%w_]+)"), false
    for _, known in ipairs(names) do is_known = is_known or known == option end
    local is_of_function = section ~= "option" and names_of(section)[snake(name)] ~= nil
    if not is_of_function and err.suggestion or option and not is_known then error(err, 0) end
  end
  errors.raise("unknown_" .. what, ("no %s `%s`; %s"):format(what, name, use), other_names.fields(name, use, names))
end

return other_names
