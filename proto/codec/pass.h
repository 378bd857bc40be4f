/* pass.h - the macros of one reading of the .def files (see define.h). No include guard: read per pass. */
/* A macro a line, so that the passes can be compared. */
/* clang-format off */
#define REQUIRED FIELD_REQUIRED
#define OPTIONAL FIELD_OPTIONAL
#define NULLABLE FIELD_NULLABLE
#define REQUIRED_NULLABLE (FIELD_REQUIRED | FIELD_NULLABLE)
#define NO_MAX 9007199254740992.0

/* These passes read no fields. */
#if defined(PASS_CONSTANTS) || defined(PASS_ACCESSORS) || defined(PASS_LISTS)
#define STRING(member, wire, flags, min, max, doc)
#define STRINGS(member, wire, flags, min, max, doc)
#define NAMES(member, wire, flags, enumeration, min, max, doc)
#define INT(member, wire, flags, min, max, doc)
#define NUMBER(member, wire, flags, min, max, doc)
#define BOOL(member, wire, flags, doc)
#define JSON(member, wire, flags, doc)
#define JSON_OBJECT(member, wire, flags, doc)
#define JSON_ARRAY(member, wire, flags, doc)
#define JSON_SCHEMA(member, wire, flags, schema, doc)
#define JSON_OF(member, wire, flags, type, doc)
#define ENUM(member, wire, flags, enumeration, doc)
#define LEVEL(member, wire, flags, enumeration, doc)
#define OBJECT(member, wire, flags, type, doc)
#define OBJECTS(member, wire, flags, type, min, max, doc)
#define END_TYPE(name)
#endif

#if defined(PASS_CONSTANTS)

#define ENUMERATION(name, doc) enum name {
#define NAME(constant, wire) constant,
#define END_ENUMERATION(name) };
#define TYPE(name, doc)

#elif defined(PASS_STRUCTS)

#define ENUMERATION(name, doc)
#define NAME(constant, wire)
#define END_ENUMERATION(name)
/* `empty` keeps a type without fields a legal, non-empty struct. */
#define TYPE(name, doc) struct name { char empty_;
#define STRING(member, wire, flags, min, max, doc) struct str member;
#define STRINGS(member, wire, flags, min, max, doc) struct strs member;
#define NAMES(member, wire, flags, enumeration, min, max, doc) struct strs member;
#define INT(member, wire, flags, min, max, doc) int64_t member; bool has_##member;
#define NUMBER(member, wire, flags, min, max, doc) double member; bool has_##member;
#define BOOL(member, wire, flags, doc) bool member; bool has_##member;
#define JSON(member, wire, flags, doc) struct json member;
#define JSON_OBJECT(member, wire, flags, doc) struct json member;
#define JSON_ARRAY(member, wire, flags, doc) struct json member;
#define JSON_SCHEMA(member, wire, flags, schema, doc) struct json member;
#define JSON_OF(member, wire, flags, type, doc) struct json member;
#define ENUM(member, wire, flags, enumeration, doc) int member; bool has_##member;
#define LEVEL(member, wire, flags, enumeration, doc) int member; bool has_##member;
#define OBJECT(member, wire, flags, type, doc) struct type member; bool has_##member;
#define OBJECTS(member, wire, flags, type, min, max, doc) struct { struct type *items; size_t count; } member;
#define END_TYPE(name) };

#elif defined(PASS_ACCESSORS)

#define ENUMERATION(name, doc) const struct enumeration *name##_enumeration(void);
#define NAME(constant, wire)
#define END_ENUMERATION(name)
#define TYPE(name, doc) const struct type *name##_type(void);

#elif defined(PASS_TABLES)

#define ENUMERATION(name_, doc_) \
	const struct enumeration *name_##_enumeration(void) { \
		static const char enumeration_name[] = #name_; \
		static const char enumeration_doc[] = doc_; \
		static const char *const names[] = {
#define NAME(constant, wire) wire,
#define END_ENUMERATION(name_) \
		}; \
		static const struct enumeration e = { \
			.name = enumeration_name, .names = names, .count = sizeof(names) / sizeof(names[0]), \
			.doc = enumeration_doc}; \
		return &e; \
	}
#define TYPE(name_, doc_) \
	const struct type *name_##_type(void) { \
		typedef struct name_ self; \
		static const char type_doc[] = doc_; \
		static const struct field fields[] = {
#define STRING(member, wire_, flags_, min_, max_, doc_) \
	{.wire = wire_, .kind = FIELD_STRING, .flags = flags_, .offset = offsetof(self, member), \
		.min = min_, .max = max_, .doc = doc_},
#define STRINGS(member, wire_, flags_, min_, max_, doc_) \
	{.wire = wire_, .kind = FIELD_STRINGS, .flags = flags_, .offset = offsetof(self, member), \
		.min = min_, .max = max_, .doc = doc_},
#define NAMES(member, wire_, flags_, enumeration_, min_, max_, doc_) \
	{.wire = wire_, .kind = FIELD_STRINGS, .flags = flags_, .offset = offsetof(self, member), \
		.min = min_, .max = max_, .enumeration = enumeration_##_enumeration, .doc = doc_},
#define FIELD_SCALAR_(kind_, member, wire_, flags_, min_, max_, doc_) \
	{.wire = wire_, .kind = kind_, .flags = flags_, .offset = offsetof(self, member), \
		.has_offset = offsetof(self, has_##member), .min = min_, .max = max_, .doc = doc_},
#define INT(member, wire_, flags_, min_, max_, doc_) \
	FIELD_SCALAR_(FIELD_INT, member, wire_, flags_, min_, max_, doc_)
#define NUMBER(member, wire_, flags_, min_, max_, doc_) \
	FIELD_SCALAR_(FIELD_NUMBER, member, wire_, flags_, min_, max_, doc_)
#define BOOL(member, wire_, flags_, doc_) FIELD_SCALAR_(FIELD_BOOL, member, wire_, flags_, 1, 0, doc_)
#define FIELD_JSON_(shape_, member, wire_, flags_, doc_) \
	{.wire = wire_, .kind = FIELD_JSON, .flags = flags_, .offset = offsetof(self, member), \
		.min = 1, .max = 0, .shape = shape_, .doc = doc_},
#define JSON(member, wire_, flags_, doc_) FIELD_JSON_(JSON_SHAPE_ANY, member, wire_, flags_, doc_)
#define JSON_OBJECT(member, wire_, flags_, doc_) \
	FIELD_JSON_(JSON_SHAPE_OBJECT, member, wire_, flags_, doc_)
#define JSON_ARRAY(member, wire_, flags_, doc_) \
	FIELD_JSON_(JSON_SHAPE_ARRAY, member, wire_, flags_, doc_)
#define JSON_SCHEMA(member, wire_, flags_, schema_, doc_) \
	{.wire = wire_, .kind = FIELD_JSON, .flags = flags_, .offset = offsetof(self, member), \
		.min = 1, .max = 0, .schema = schema_, .doc = doc_},
#define JSON_OF(member, wire_, flags_, type_, doc_) \
	{.wire = wire_, .kind = FIELD_JSON, .flags = flags_, .offset = offsetof(self, member), \
		.min = 1, .max = 0, .shape = JSON_SHAPE_OBJECT, .type = type_##_type, .doc = doc_},
#define FIELD_NAMED_(kind_, member, wire_, flags_, enumeration_, doc_) \
	{.wire = wire_, .kind = kind_, .flags = flags_, .offset = offsetof(self, member), \
		.has_offset = offsetof(self, has_##member), .min = 1, .max = 0, \
		.enumeration = enumeration_##_enumeration, .doc = doc_},
#define ENUM(member, wire_, flags_, enumeration_, doc_) \
	FIELD_NAMED_(FIELD_ENUM, member, wire_, flags_, enumeration_, doc_)
#define LEVEL(member, wire_, flags_, enumeration_, doc_) \
	FIELD_NAMED_(FIELD_LEVEL, member, wire_, flags_, enumeration_, doc_)
#define OBJECT(member, wire_, flags_, type_, doc_) \
	{.wire = wire_, .kind = FIELD_OBJECT, .flags = flags_, .offset = offsetof(self, member), \
		.has_offset = offsetof(self, has_##member), .min = 1, .max = 0, .type = type_##_type, .doc = doc_},
#define OBJECTS(member, wire_, flags_, type_, min_, max_, doc_) \
	{.wire = wire_, .kind = FIELD_OBJECTS, .flags = flags_, .offset = offsetof(self, member), \
		.min = min_, .max = max_, .type = type_##_type, .doc = doc_},
/* The last row only keeps a type without fields legal; it is not counted. */
#define END_TYPE(name_) \
			{.wire = NULL}, \
		}; \
		static const struct type t = {.name = #name_, .size = sizeof(self), .fields = fields, \
			.count = sizeof(fields) / sizeof(fields[0]) - 1, .doc = type_doc}; \
		return &t; \
	}

#elif defined(PASS_LISTS)

/* Whoever reads defines LIST_TYPE(name) and LIST_ENUMERATION(name). */
#define ENUMERATION(name, doc) LIST_ENUMERATION(name)
#define NAME(constant, wire)
#define END_ENUMERATION(name)
#define TYPE(name, doc) LIST_TYPE(name)

#else
#error "one PASS_... must be defined"
#endif
/* clang-format on */
