/*
 * define.h - how a .def file of proto/catalogue is read.
 *
 * A .def file lists enumerations and types:
 *
 *   ENUMERATION(hint_level, "How much help the learner wants.")
 *   NAME(NONE, "none")
 *   ...
 *   END_ENUMERATION(hint_level)
 *
 *   TYPE(file_open, "Open a file in the editor.")
 *   STRING(path, "path", REQUIRED, 1, 4096, "Project-relative or absolute path.")
 *   OBJECT(cursor, "cursorPosition", OPTIONAL, position, "Where the cursor is.")
 *   END_TYPE(file_open)
 *
 * It is included three times by messages.h (enum constants, structs, accessors) and three times by
 * messages.c (tables, lists). This header is for use there alone; every .def file has no include guard.
 *
 *   member kinds        arguments
 *   STRING STRINGS      (member, wire, flags, min, max, doc)          bytes; items
 *   INT NUMBER          (member, wire, flags, min, max, doc)
 *   BOOL                (member, wire, flags, doc)
 *   JSON JSON_OBJECT JSON_ARRAY
 *                       (member, wire, flags, doc)                    any value; an object; an array
 *   JSON_SCHEMA         (member, wire, flags, schema, doc)            any value; keywords for the schema
 *   JSON_OF             (member, wire, flags, type, doc)              an object, handed on unread; readers
 *                                                                     are told that it is of the type
 *   ENUM LEVEL          (member, wire, flags, enumeration, doc)
 *   OBJECT              (member, wire, flags, type, doc)
 *   OBJECTS             (member, wire, flags, type, min, max, doc)
 *   NAMES               (member, wire, flags, enumeration, min, max, doc)
 *                                                                     strings out of an enumeration
 *
 * flags: REQUIRED, OPTIONAL, NULLABLE (optional, null accepted and sent), REQUIRED_NULLABLE.
 * NO_MAX where there is no upper bound.
 */
