/* Messages of dqlite nodes: reads bytes as messages, lets SQLite step through their rows, and checks that values return as
** they were sent. */
#include <stdlib.h>
#include <string.h>

#include <perilune_carriers.h>
#include <perilune_wire.h>

enum { most_columns = 40, most_pages = 8 };

static void require(bool holds) {
    if (!holds) abort();
}

/* The rest of the input. */
typedef struct {
    const uint8_t *at, *end;
} bytes;

static uint8_t take_byte(bytes *input) { return input->at < input->end ? *input->at++ : 0; }

static bytes take_bytes(bytes *input, size_t length) {
    size_t left = (size_t)(input->end - input->at);
    bytes taken = {input->at, input->at + (length < left ? length : left)};
    input->at = taken.end;
    return taken;
}

/* Returns an exact copy, so that the sanitizer detects reads past its end. */
static pcl_reader copy_of(bytes source) {
    size_t length = (size_t)(source.end - source.at);
    uint8_t *copy = malloc(length ? length : 1);
    memcpy(copy, source.at, length);
    return (pcl_reader){copy, length, 0};
}

/* MARK: - Parts of a message */

/* Reads each byte. */
static void require_readable(const void *start, size_t length) {
    for (size_t i = 0; i < length; i++) (void)((const volatile uint8_t *)start)[i];
}

static void read_parts(bytes input) {
    bytes choices = take_bytes(&input, take_byte(&input) % 32);
    pcl_reader reader = copy_of(input);
    while (choices.at < choices.end) {
        size_t former = reader.offset, length = 0, body_length = 0;
        uint32_t small;
        uint64_t great;
        const char *text;
        const uint8_t *file;
        uint8_t type;
        bool has_read = true;
        switch (take_byte(&choices) % 5) {
            case 0: has_read = pcl_read_u32(&reader, &small); break;
            case 1: has_read = pcl_read_u64(&reader, &great); break;
            case 2:
                has_read = pcl_read_text(&reader, &text, &length);
                if (has_read) require(strlen(text) == length);
                break;
            case 3:
                has_read = pcl_read_file(&reader, &file, &length);
                if (has_read) require_readable(file, length);
                break;
            default:
                if (reader.length - reader.offset < PCL_HEADER_SIZE) break;
                if (pcl_read_header(reader.bytes + reader.offset, PCL_MOST_BYTES, &body_length, &type)) require(body_length <= PCL_MOST_BYTES && body_length % 8 == 0);
        }
        require(reader.offset <= reader.length && reader.offset >= former + length);
        require(has_read || reader.offset == former);
    }
    free((void *)reader.bytes);
}

/* MARK: - Rows */

/* The source of the carrier's rows. */
typedef struct {
    int references, open_rows;
    int column_count;
    bytes pages[most_pages];
    int page_count, next;
    bool gives_parameters; /* returns a row of the given values instead of the pages */
} origin;

static int set_page(origin *origin, pcl_rows *rows, bytes page) {
    uint64_t column_count;
    free(rows->source);
    rows->page = copy_of(page);
    rows->source = (void *)rows->page.bytes;
    rows->next_row = pcl_next_row;
    return pcl_begin_page(&rows->page, &column_count) && column_count == (uint64_t)origin->column_count ? SQLITE_OK : SQLITE_PROTOCOL;
}

/* The values of parameters are encoded like the values of rows, except for the encoding of their types. */
static int set_page_of_parameters(origin *origin, int count, sqlite3_value **values, pcl_rows *rows) {
    pcl_buffer message = {0}, page = {0};
    int position;
    pcl_begin_message(&message, 7);
    pcl_parameters result = pcl_put_parameters(&message, count, values, &position);
    bool has_ended = pcl_end_message(&message);
    if (result == PCL_PARAMETERS_WRITTEN) {
        const uint8_t *tuple = message.bytes + PCL_HEADER_SIZE;
        size_t body_length = 0;
        uint8_t type = 0;
        require(has_ended && tuple[0] == count && pcl_read_header(message.bytes, PCL_MOST_BYTES, &body_length, &type));
        require(type == 7 && body_length == message.length - PCL_HEADER_SIZE);
        size_t head = ((size_t)count + 1 + 7) & ~(size_t)7;
        pcl_put_u64(&page, (uint64_t)count);
        for (int i = 0; i < count; i++) pcl_put_text(&page, "name", 4);
        for (int i = 0; i < count; i += 16) {
            uint64_t types = 0;
            for (int j = i; j < i + 16 && j < count; j++) types |= (uint64_t)tuple[1 + j] << 4 * (j - i);
            pcl_put_u64(&page, types);
        }
        for (size_t at = head; at < body_length; at += 8) {
            uint64_t word;
            memcpy(&word, tuple + at, sizeof word);
            pcl_put_u64(&page, word);
        }
        pcl_put_u64(&page, ~(uint64_t)0);
        require(set_page(origin, rows, (bytes){page.bytes, page.bytes + page.length}) == SQLITE_OK);
    }
    pcl_free_buffer(&message);
    pcl_free_buffer(&page);
    return result == PCL_PARAMETERS_WRITTEN ? SQLITE_OK : SQLITE_MISMATCH;
}

static int next_page(void *statement, pcl_rows *rows, char **message) {
    origin *origin = statement;
    if (origin->next < origin->page_count) return set_page(origin, rows, origin->pages[origin->next++]);
    *message = pcl_copy_message("no more pages");
    return SQLITE_IOERR;
}

static int read_rows(void *statement, int count, sqlite3_value **values, pcl_rows *rows, char **message) {
    origin *origin = statement;
    int code = origin->gives_parameters ? set_page_of_parameters(origin, count, values, rows) : next_page(statement, rows, message);
    if (code == SQLITE_OK) origin->open_rows++;
    else free(rows->source), rows->source = NULL;
    return code;
}

static void end_rows(void *statement, pcl_rows *rows) {
    ((origin *)statement)->open_rows--;
    free(rows->source);
    *rows = (pcl_rows){0};
}

static int write_values(void *statement, int count, sqlite3_value **values, sqlite3_int64 *rowid, char **message) {
    (void)statement, (void)rowid, (void)message;
    pcl_buffer message_ = {0};
    int position;
    pcl_begin_message(&message_, 1);
    pcl_put_parameters(&message_, count, values, &position);
    pcl_end_message(&message_);
    pcl_free_buffer(&message_);
    return SQLITE_OK;
}

static void *retain(void *statement) {
    ((origin *)statement)->references++;
    return statement;
}

static void release(void *statement) { ((origin *)statement)->references--; }

static const pcl_carrier_calls calls = {read_rows, next_page, end_rows, write_values, retain, release};

/* Binds the next value. Returns whether it is text with a NUL, which cannot be sent. */
static bool bind(sqlite3_stmt *statement, int parameter, bytes *input) {
    uint8_t kind = take_byte(input);
    bytes taken = take_bytes(input, kind / 5);
    int length = (int)(taken.end - taken.at);
    int64_t integer = 0;
    double number = 0;
    switch (kind % 5) {
        case 0: memcpy(&integer, taken.at, length < 8 ? (size_t)length : 8); sqlite3_bind_int64(statement, parameter, integer); break;
        case 1: memcpy(&number, taken.at, length < 8 ? (size_t)length : 8); sqlite3_bind_double(statement, parameter, number); break;
        case 2: sqlite3_bind_text(statement, parameter, (const char *)taken.at, length, SQLITE_TRANSIENT); break;
        case 3: sqlite3_bind_blob(statement, parameter, taken.at, length, SQLITE_TRANSIENT); break;
        default: sqlite3_bind_null(statement, parameter);
    }
    return kind % 5 == 2 && memchr(taken.at, 0, (size_t)length);
}

/* Checks that the row has the bound values. */
static void require_bound_values(sqlite3 *connection, sqlite3_stmt *statement, bytes input, int count) {
    sqlite3_stmt *expected;
    require(sqlite3_prepare_v2(connection, "SELECT ?1 IS ?2 AND typeof(?1) = typeof(?2)", -1, &expected, NULL) == SQLITE_OK);
    for (int i = 0; i < count; i++) {
        bind(expected, 1, &input);
        sqlite3_bind_value(expected, 2, sqlite3_column_value(statement, i));
        require(sqlite3_step(expected) == SQLITE_ROW && sqlite3_column_int(expected, 0) == 1);
        sqlite3_reset(expected);
    }
    sqlite3_finalize(expected);
}

/* Prepares the SQL of a carrier as Swift writes it. */
static sqlite3_stmt *define(sqlite3 *connection, origin *origin, int parameter_count) {
    sqlite3_str *declaration = sqlite3_str_new(connection), *sql = sqlite3_str_new(connection);
    sqlite3_str_appendall(declaration, "CREATE TABLE x(");
    sqlite3_str_appendall(sql, "SELECT ");
    for (int i = 0; i < origin->column_count; i++) {
        sqlite3_str_appendf(declaration, "%sc%d", i ? ", " : "", i);
        sqlite3_str_appendf(sql, "%sc%d", i ? ", " : "", i);
    }
    sqlite3_str_appendall(sql, " FROM carrier");
    for (int i = 0; i < parameter_count; i++) {
        sqlite3_str_appendf(declaration, ", p%d HIDDEN", i);
        sqlite3_str_appendf(sql, "%s p%d IS ?%d", i ? " AND" : " WHERE", i, i + 1);
    }
    sqlite3_str_appendall(declaration, ")");
    char *declared = sqlite3_str_finish(declaration), *text = sqlite3_str_finish(sql);
    sqlite3_stmt *statement;
    require(pcl_define_carrier(connection, "carrier", declared, origin->column_count, parameter_count, origin, &calls) == SQLITE_OK);
    require(sqlite3_prepare_v2(connection, text, -1, &statement, NULL) == SQLITE_OK);
    sqlite3_free(declared);
    sqlite3_free(text);
    return statement;
}

static void step_rows(sqlite3 *connection, bytes input, bool gives_parameters) {
    int parameter_count = take_byte(&input) % (most_columns - 1) + gives_parameters, steps = 0, code;
    origin origin = {.gives_parameters = gives_parameters};
    origin.column_count = gives_parameters ? parameter_count : take_byte(&input) % most_columns + 1;
    sqlite3_stmt *statement = define(connection, &origin, parameter_count);
    bytes values = input;
    bool has_nul = false;
    for (int i = 0; i < parameter_count; i++) has_nul |= bind(statement, i + 1, &input);
    while (origin.page_count < most_pages && input.at < input.end) {
        size_t length = take_byte(&input);
        origin.pages[origin.page_count++] = take_bytes(&input, 8 * length);
    }
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        require(++steps < 10000);
        for (int i = 0; i < origin.column_count; i++) {
            const void *start = sqlite3_column_blob(statement, i);
            require_readable(start, (size_t)sqlite3_column_bytes(statement, i));
        }
        if (gives_parameters) require_bound_values(connection, statement, values, parameter_count);
    }
    if (gives_parameters) require(has_nul ? code == SQLITE_MISMATCH : code == SQLITE_DONE && steps == 1);
    sqlite3_finalize(statement);
    require(origin.open_rows == 0);
    pcl_remove_carrier(connection, "carrier");
    /* SQLite releases the table when it next compiles a statement. */
    require(sqlite3_prepare_v2(connection, "", 0, &statement, NULL) == SQLITE_OK && origin.references == 0);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static sqlite3 *connection;
    if (!connection && sqlite3_open(":memory:", &connection) != SQLITE_OK) abort();
    bytes input = {data, data + size};
    switch (take_byte(&input) % 3) {
        case 0: read_parts(input); break;
        case 1: step_rows(connection, input, false); break;
        default: step_rows(connection, input, true);
    }
    return 0;
}
