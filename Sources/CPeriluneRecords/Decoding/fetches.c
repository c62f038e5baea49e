/* Fetches records: the form of rows for records, and the functions that return records. */
#include "CPeriluneRecords/Decoding/decoding.h"

/* MARK: - The form */

static void push_source(lua_State *L, pdb_call *call) { prec_push_row_layout(L, call); }

/* Begins a loop. Its `first` and `second` are the decoder's keys and metatables, `detail` is the row layout, and `state` the chunk. */
static void begin(lua_State *L, pdb_row_loop *loop) {
    prec_decoder decoder = prec_begin_records(L, loop->source);
    loop->detail = decoder.row_layout;
    loop->first = decoder.keys;
    loop->second = decoder.metatables;
    loop->state = NULL;
}

static bool push_next(lua_State *L, pdb_row_loop *loop) {
    prec_decoder decoder = {.row_layout = (prec_row_layout *)loop->detail, .row_layout_index = loop->source, .keys = loop->first,
                            .metatables = loop->second, .chunk = loop->state};
    prec_decode(L, loop->call->statement, &decoder);
    loop->state = decoder.chunk;
    return true;
}

static void end(lua_State *L, pdb_state *rows) { prec_check_types(L, rows); }

const pdb_row_form prec_records_form = {false, push_source, prec_push_record, begin, push_next, end};

/* MARK: - Verbs */

static int record_rows(lua_State *L, pdb_call *call) { return pdb_open_cursor(L, call, &prec_records_form); }

int prec_fetch_records(lua_State *L, pdb_call *call) {
    pdb_fetch(L, call, &prec_records_form, LUA_MAXINTEGER);
    end(L, call->rows);
    return 1;
}

int prec_fetch_record(lua_State *L, pdb_call *call) {
    pdb_fetch_first(L, call, &prec_records_form);
    end(L, call->rows);
    return 1;
}

PDB_VERB(fetch_records, prec_fetch_records, "fetch_all", true, false, true, true)
PDB_ON_DATABASES(fetch_records)
PDB_ON_STATEMENTS(fetch_records)
PDB_VERB(fetch_record, prec_fetch_record, "fetch_one", true, false, true, true)
PDB_ON_DATABASES(fetch_record)
PDB_ON_STATEMENTS(fetch_record)
PDB_VERB(record_rows, record_rows, "rows", false, false, true, true)
PDB_ON_DATABASES(record_rows)
PDB_ON_STATEMENTS(record_rows)

/* Functions for the library: (database, SQL, class, arguments) or (statement, class, arguments). */
const luaL_Reg prec_record_fetches[] = {
    {"fetch_records", database_fetch_records},
    {"fetch_record", database_fetch_record},
    {"record_rows", database_record_rows},
    {"fetch_statement_records", statement_fetch_records},
    {"fetch_statement_record", statement_fetch_record},
    {"statement_record_rows", statement_record_rows},
    {NULL, NULL},
};
