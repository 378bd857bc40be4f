/*
 * entities.c - rows by themselves: get, list, create, update, delete (FR-022, FR-045;
 * P2.18).
 *
 * Values are checked by the record type alone, as every other message is: a row to be
 * written is decoded from JSON before it is bound, and a change is laid over the row as
 * it is and decoded whole.
 */
#include "common/base/buf.h"
#include "proto/codec/messages.h"
#include "workers/store/db/json_text.h"
#include "workers/store/entities/entity_sql.h"
#include "workers/store/service/services.h"
#include "workers/store/service/store.h"
#include <errno.h>
#include <stdlib.h>

#define LIMIT_DEFAULT 100
#define PARAMETERS_MAX 32

/* ---- statements that are made here ---- */

static void finalize(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

#define AUTO_STATEMENT __attribute__((cleanup(finalize))) sqlite3_stmt

static int prepare(struct store *store, struct buf *sql, sqlite3_stmt **out)
{
	int rc =
		sqlite3_prepare_v2(store->db.handle, sql->data, (int)sql->len, out, NULL);

	buf_free(sql);
	return database_errno(rc);
}

/* ---- reading ---- */

/* 1 with the row as JSON in the arena, 0, or -errno. */
static int read_row(struct store *store, struct call *call,
	const struct entity_info *info, struct str id, struct str *row)
{
	AUTO_STATEMENT *statement = NULL;
	struct buf sql = {0};
	int result;

	buf_add_str(&sql, STR_LIT("SELECT "));
	entity_sql_object(info, &sql);
	buf_printf(&sql, " FROM %s WHERE id = ?1", info->table);
	result = prepare(store, &sql, &statement);
	if (result < 0)
		return result;
	query_text(statement, 1, id);
	result = query_step(&store->db, statement);
	if (result == 1)
		*row = query_column(statement, 0, call->arena);
	return result;
}

static int not_found(struct call *call, int entity, struct str id)
{
	return call_refuse(call, ERROR_NOT_FOUND, "There is no %s %.*s",
		entity_enumeration()->names[entity], STR_ARG(id));
}

static int answer_row(struct store *store, struct call *call, int entity, struct str id)
{
	struct str row;
	int found = read_row(store, call, entity_info(entity), id, &row);

	if (found < 0)
		return found;
	if (found == 0)
		return not_found(call, entity, id);
	call_answer(call, &(struct entity_row){.row = {.raw = row}});
	return 0;
}

int entity_get(struct store *store, struct call *call)
{
	const struct entity_ref *request = call->message;

	return answer_row(store, call, request->entity, request->id);
}

/* ---- listing ---- */

/* Conditions of a query, and the values of their parameters. */
struct filter {
	struct buf sql; /* " WHERE …" */
	struct {
		yyjson_val *val;
		struct str text;
	} values[PARAMETERS_MAX];
	int count;
};

static void filter_begin(struct filter *f)
{
	buf_add_str(&f->sql, f->sql.len ? STR_LIT(" AND ") : STR_LIT(" WHERE "));
}

static int filter_where(struct call *call, const struct entity_info *info,
	yyjson_val *where, struct filter *f)
{
	yyjson_obj_iter iter = yyjson_obj_iter_with(where);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&iter))) {
		struct str name = {yyjson_get_str(key), yyjson_get_len(key)};
		const struct field *field = entity_field(info, name);
		yyjson_val *val = yyjson_obj_iter_get_val(key);

		if (!field || f->count == PARAMETERS_MAX - 2)
			return call_refuse(call, ERROR_INVALID_MESSAGE,
				"where.%.*s: rows of %s have no such field",
				STR_ARG(name), info->table);
		if (yyjson_is_ctn(val))
			return call_refuse(call, ERROR_INVALID_MESSAGE,
				"where.%.*s: expected a single value", STR_ARG(name));
		filter_begin(f);
		entity_sql_column(field->wire, &f->sql);
		f->values[f->count++].val = val;
		buf_printf(&f->sql, " IS ?%d", f->count);
	}
	return 0;
}

static int filter_time(struct call *call, const struct entity_info *info,
	const char *name, const char *comparison, struct str at, struct filter *f)
{
	struct wall parsed;

	if (!at.ptr)
		return 0;
	if (!info->time || wall_parse(at, &parsed) < 0)
		return call_refuse(call, ERROR_INVALID_MESSAGE, "%s: %s", name,
			info->time ? "expected ISO 8601 with milliseconds and Z"
				   : "these rows have no time");
	filter_begin(f);
	entity_sql_column(info->time, &f->sql);
	f->values[f->count++].text = at;
	buf_printf(&f->sql, " %s ?%d", comparison, f->count);
	return 0;
}

static void bind_value(sqlite3_stmt *statement, int index, yyjson_val *val)
{
	if (yyjson_is_str(val))
		query_text(statement, index,
			(struct str){yyjson_get_str(val), yyjson_get_len(val)});
	else if (yyjson_is_bool(val))
		sqlite3_bind_int(statement, index, yyjson_get_bool(val));
	else if (yyjson_is_int(val))
		sqlite3_bind_int64(statement, index, yyjson_get_sint(val));
	else if (yyjson_is_real(val))
		sqlite3_bind_double(statement, index, yyjson_get_real(val));
}

static void filter_bind(const struct filter *f, sqlite3_stmt *statement)
{
	for (int i = 0; i < f->count; i++) {
		if (f->values[i].val)
			bind_value(statement, i + 1, f->values[i].val);
		else
			query_text(statement, i + 1, f->values[i].text);
	}
}

static int select_rows(struct store *store, struct call *call,
	const struct entity_info *info, const struct entity_query *request,
	const struct filter *f, struct str *rows)
{
	AUTO_STATEMENT *statement = NULL;
	const char *direction = request->oldest_first ? "ASC" : "DESC";
	struct buf sql = {0};
	AUTO_BUF list = {0};
	int result;

	buf_add_str(&sql, STR_LIT("SELECT "));
	entity_sql_object(info, &sql);
	buf_printf(
		&sql, " FROM %s%.*s ORDER BY ", info->table, STR_ARG(buf_str(&f->sql)));
	if (info->time) {
		entity_sql_column(info->time, &sql);
		buf_printf(&sql, " %s, ", direction);
	}
	buf_printf(&sql, "rowid %s LIMIT %lld", direction,
		request->has_limit ? (long long)request->limit : LIMIT_DEFAULT);
	result = prepare(store, &sql, &statement);
	if (result < 0)
		return result;
	filter_bind(f, statement);
	while ((result = query_step(&store->db, statement)) == 1) {
		buf_add_char(&list, list.len ? ',' : '[');
		buf_add_str(&list, query_column(statement, 0, call->arena));
	}
	buf_add_str(&list, list.len ? STR_LIT("]") : STR_LIT("[]"));
	*rows = arena_str(call->arena, buf_str(&list));
	return result;
}

/* How long ago the newest row that fits was. */
static int read_age(struct store *store, struct call *call,
	const struct entity_info *info, const struct filter *f,
	struct entity_rows *answer)
{
	AUTO_STATEMENT *statement = NULL;
	struct buf sql = {0};
	struct wall newest;
	int result;

	if (!info->time)
		return 0;
	buf_add_str(&sql, STR_LIT("SELECT max("));
	entity_sql_column(info->time, &sql);
	buf_printf(&sql, ") FROM %s%.*s", info->table, STR_ARG(buf_str(&f->sql)));
	result = prepare(store, &sql, &statement);
	if (result < 0)
		return result;
	filter_bind(f, statement);
	result = query_step(&store->db, statement);
	if (result == 1 &&
		wall_parse(query_column(statement, 0, call->arena), &newest) == 0) {
		int64_t age = wall_ms(call->arrived) - wall_ms(newest);

		answer->since_newest_ms = age > 0 ? age : 0;
		answer->has_since_newest_ms = true;
	}
	return result < 0 ? result : 0;
}

int entity_list(struct store *store, struct call *call)
{
	const struct entity_query *request = call->message;
	const struct entity_info *info = entity_info(request->entity);
	struct entity_rows answer = {0};
	struct filter f = {0};
	int result = filter_where(call, info, request->where.val, &f);

	if (result == 0)
		result = filter_time(call, info, "since", ">=", request->since, &f);
	if (result == 0)
		result = filter_time(call, info, "until", "<", request->until, &f);
	if (result == 0)
		result = select_rows(store, call, info, request, &f, &answer.rows.raw);
	if (result == 0)
		result = read_age(store, call, info, &f, &answer);
	buf_free(&f.sql);
	if (result < 0)
		return result;
	call_answer(call, &answer);
	return 0;
}

/* ---- writing ---- */

/* Why a row was refused by the table. */
static int refuse_constraint(
	struct store *store, struct call *call, const struct entity_info *info)
{
	int rc = sqlite3_extended_errcode(store->db.handle);

	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return call_refuse(call, ERROR_NOT_FOUND,
			"The row of %s cannot be written: what it belongs to is not "
			"there",
			info->table);
	return call_refuse(call, ERROR_CONFLICT, "The row of %s cannot be written: %s",
		info->table, sqlite3_errmsg(store->db.handle));
}

/* Checks a whole row and runs an insert or update with it. 0, -ECANCELED or -errno. */
static int write_row(struct store *store, struct call *call,
	const struct entity_info *info, struct buf *sql, yyjson_val *row)
{
	const struct type *type = info->record();
	AUTO_STATEMENT *statement = NULL;
	void *record = arena_alloc(call->arena, type->size);
	struct proto_error error;
	int result;

	if (proto_decode(type, row, "row", DECODE_STRICT, call->arena, record, &error) <
		0) {
		buf_free(sql);
		return call_refuse(call, ERROR_INVALID_MESSAGE, "%s", error.text);
	}
	result = prepare(store, sql, &statement);
	if (result < 0)
		return result;
	entity_bind(statement, type, record, call->arena);
	result = query_run(&store->db, statement);
	if (result == -ENOKEY)
		return refuse_constraint(store, call, info);
	return result < 0 ? result : 0;
}

/* A row with the members of `over` over its own, except for its id, as a document of its own. */
static yyjson_doc *lay_over(struct str row, yyjson_val *over)
{
	AUTO_DOC *base = yyjson_read(row.ptr, row.len, 0);
	yyjson_doc *result;
	yyjson_mut_doc *doc = yyjson_doc_mut_copy(base, NULL);
	yyjson_mut_val *root = yyjson_mut_doc_get_root(doc);
	yyjson_obj_iter iter = yyjson_obj_iter_with(over);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&iter)))
		if (!yyjson_equals_str(key, "id"))
			yyjson_mut_obj_put(root, yyjson_val_mut_copy(doc, key),
				yyjson_val_mut_copy(doc, yyjson_obj_iter_get_val(key)));
	result = yyjson_mut_doc_imut_copy(doc, NULL);
	yyjson_mut_doc_free(doc);
	return result;
}

/* What a new row has unless it is given. */
static struct str defaults_of(
	struct call *call, const struct entity_info *info, const char *id)
{
	char at[WALL_ISO_SIZE];

	call_time(call, at);
	return info->time ? arena_printf(call->arena, "{\"id\":\"%s\",\"%s\":\"%s\"%s}",
				    id, info->time, at, info->defaults)
			  : arena_printf(
				    call->arena, "{\"id\":\"%s\"%s}", id, info->defaults);
}

int entity_create(struct store *store, struct call *call)
{
	const struct entity_new *request = call->message;
	const struct entity_info *info = entity_info(request->entity);
	struct buf sql = {0};
	char id[UUID_SIZE];
	struct str there;
	AUTO_DOC *row = NULL;
	int result;

	if (!info->may_create)
		return call_refuse(call, ERROR_NOT_ALLOWED,
			"Rows of %s are not made this way", info->table);
	call_row_id(call, 0, id);
	result = read_row(store, call, info, str_of(id), &there);
	if (result < 0)
		return result;
	if (result == 0) {
		row = lay_over(defaults_of(call, info, id), request->row.val);
		if (!row)
			return -ENOMEM;
		entity_sql_insert(info, &sql);
		result = write_row(store, call, info, &sql, yyjson_doc_get_root(row));
		if (result < 0)
			return result;
	}
	return answer_row(store, call, request->entity, str_of(id));
}

static int check_changeable(
	struct call *call, const struct entity_info *info, yyjson_val *set)
{
	yyjson_obj_iter iter = yyjson_obj_iter_with(set);
	yyjson_val *key;

	while ((key = yyjson_obj_iter_next(&iter))) {
		struct str name = {yyjson_get_str(key), yyjson_get_len(key)};

		if (!entity_changeable(info, name))
			return call_refuse(call, ERROR_NOT_ALLOWED,
				"%.*s of %s cannot be changed", STR_ARG(name),
				info->table);
	}
	return info->changeable[0] ? 0
				   : call_refuse(call, ERROR_NOT_ALLOWED,
					     "Rows of %s stay as they are", info->table);
}

int entity_update(struct store *store, struct call *call)
{
	const struct entity_change *request = call->message;
	const struct entity_info *info = entity_info(request->entity);
	struct buf sql = {0};
	struct str row;
	AUTO_DOC *changed = NULL;
	int result = check_changeable(call, info, request->set.val);

	if (result == 0)
		result = read_row(store, call, info, request->id, &row);
	if (result < 0)
		return result;
	if (result == 0)
		return not_found(call, request->entity, request->id);
	changed = lay_over(row, request->set.val);
	if (!changed)
		return -ENOMEM;
	entity_sql_update(info, &sql);
	result = write_row(store, call, info, &sql, yyjson_doc_get_root(changed));
	return result < 0 ? result
			  : answer_row(store, call, request->entity, request->id);
}

int entity_delete(struct store *store, struct call *call)
{
	const struct entity_ref *request = call->message;
	const struct entity_info *info = entity_info(request->entity);
	AUTO_STATEMENT *statement = NULL;
	struct buf sql = {0};
	int result;

	if (!info->may_delete)
		return call_refuse(call, ERROR_NOT_ALLOWED, "Rows of %s are not deleted",
			info->table);
	buf_printf(&sql, "DELETE FROM %s WHERE id = ?1", info->table);
	result = prepare(store, &sql, &statement);
	if (result < 0)
		return result;
	query_text(statement, 1, request->id);
	result = query_run(&store->db, statement);
	if (result < 0)
		return result;
	call_answer(call, &(struct written){.count = result, .has_count = true});
	return 0;
}
