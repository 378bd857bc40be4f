/* entity_sql.c - SQL made from the record types (entity_sql.h). */
#include "workers/store/entities/entity_sql.h"
#include "workers/store/db/json_text.h"
#include <ctype.h>

static const struct entity_info infos[] = {
#define ENTITY(symbol, table_, record_, time_, create, delete_, changeable_, defaults_)  \
	[symbol] = {.table = table_,                                                     \
		.record = record_##_type,                                                \
		.time = time_,                                                           \
		.may_create = create,                                                    \
		.may_delete = delete_,                                                   \
		.changeable = changeable_,                                               \
		.defaults = defaults_},
#include "workers/store/entities/entities.def"
#undef ENTITY
};

const struct entity_info *entity_info(int entity)
{
	return &infos[entity];
}

const struct field *entity_field(const struct entity_info *info, struct str wire)
{
	const struct type *type = info->record();

	for (size_t i = 0; i < type->count; i++)
		if (str_is(wire, type->fields[i].wire))
			return &type->fields[i];
	return NULL;
}

bool entity_changeable(const struct entity_info *info, struct str wire)
{
	const char *p = info->changeable;

	while (*p) {
		size_t n = strcspn(p, " ");

		if (str_eq(wire, (struct str){p, n}))
			return true;
		p += n + (p[n] == ' ');
	}
	return false;
}

void entity_sql_column(const char *wire, struct buf *out)
{
	for (const char *p = wire; *p; p++) {
		if (isupper((unsigned char)*p))
			buf_add_char(out, '_');
		buf_add_char(out, (char)tolower((unsigned char)*p));
	}
}

static bool is_json(enum field_kind kind)
{
	return kind == FIELD_STRINGS || kind == FIELD_OBJECTS || kind == FIELD_OBJECT ||
	       kind == FIELD_JSON;
}

void entity_sql_object(const struct entity_info *info, struct buf *out)
{
	const struct type *type = info->record();

	buf_add_str(out, STR_LIT("json_object("));
	for (size_t i = 0; i < type->count; i++) {
		AUTO_BUF column = {0};

		entity_sql_column(type->fields[i].wire, &column);
		buf_printf(out, "%s'%s', ", i ? ", " : "", type->fields[i].wire);
		/* What is no JSON shows as null and does not spoil the rest. */
		if (is_json(type->fields[i].kind))
			buf_printf(out, "json(iif(json_valid(%.*s), %.*s, NULL))",
				STR_ARG(buf_str(&column)), STR_ARG(buf_str(&column)));
		else
			buf_add_str(out, buf_str(&column));
	}
	buf_add_char(out, ')');
}

void entity_sql_insert(const struct entity_info *info, struct buf *out)
{
	const struct type *type = info->record();

	buf_printf(out, "INSERT INTO %s (", info->table);
	for (size_t i = 0; i < type->count; i++) {
		buf_add_str(out, str_of(i ? ", " : ""));
		entity_sql_column(type->fields[i].wire, out);
	}
	buf_add_str(out, STR_LIT(") VALUES ("));
	for (size_t i = 0; i < type->count; i++)
		buf_printf(out, "%s?%zu", i ? ", " : "", i + 1);
	buf_add_char(out, ')');
}

void entity_sql_update(const struct entity_info *info, struct buf *out)
{
	const struct type *type = info->record();
	const char *comma = "";

	buf_printf(out, "UPDATE %s SET ", info->table);
	for (size_t i = 0; i < type->count; i++) {
		if (!entity_changeable(info, str_of(type->fields[i].wire)))
			continue;
		buf_add_str(out, str_of(comma));
		comma = ", ";
		entity_sql_column(type->fields[i].wire, out);
		buf_printf(out, " = ?%zu", i + 1);
	}
	buf_add_str(out, STR_LIT(" WHERE id = ?1"));
}

static struct str text_of(const struct field *f, const void *member, struct arena *arena)
{
	const struct json *json = member;
	/* The shape that every OBJECTS member has. */
	const struct {
		const void *items;
		size_t count;
	} *objects = member;

	switch (f->kind) {
	case FIELD_STRING:
		return *(const struct str *)member;
	case FIELD_STRINGS:
		return json_text_strings(arena, *(const struct strs *)member);
	case FIELD_OBJECTS:
		return json_text_objects(
			arena, f->type(), objects->items, objects->count);
	case FIELD_JSON:
		return json->raw.ptr ? json->raw : json_text_value(arena, json->val);
	case FIELD_ENUM:
	case FIELD_LEVEL:
		return str_of(f->enumeration()->names[*(const int *)member]);
	case FIELD_INT:
	case FIELD_NUMBER:
	case FIELD_BOOL:
	case FIELD_OBJECT:
	default:
		return (struct str){0};
	}
}

void entity_bind(sqlite3_stmt *statement, const struct type *type, const void *record,
	struct arena *arena)
{
	for (size_t i = 0; i < type->count; i++) {
		const struct field *f = &type->fields[i];
		const void *member = (const char *)record + f->offset;
		bool scalar = f->kind == FIELD_INT || f->kind == FIELD_NUMBER ||
			      f->kind == FIELD_BOOL || f->kind == FIELD_ENUM;
		struct str text;

		if (scalar && !*((const bool *)record + f->has_offset))
			continue; /* NULL */
		if (f->kind == FIELD_INT) {
			sqlite3_bind_int64(
				statement, (int)i + 1, *(const int64_t *)member);
		} else if (f->kind == FIELD_NUMBER) {
			sqlite3_bind_double(
				statement, (int)i + 1, *(const double *)member);
		} else if (f->kind == FIELD_BOOL) {
			sqlite3_bind_int(statement, (int)i + 1, *(const bool *)member);
		} else {
			text = text_of(f, member, arena);
			if (text.ptr)
				sqlite3_bind_text64(statement, (int)i + 1, text.ptr,
					text.len, SQLITE_STATIC, SQLITE_UTF8);
		}
	}
}
