/*
 * learner.h - what PostgreSQL has of the learner, for paigectl import --from-mirror.
 *
 * Printed to standard output as lines of JSON, type mirror_part, for paige-archive to read: it knows SQLite, and this program
 * knows PostgreSQL. One snapshot, so rows that another machine sends meanwhile are there with what they belong to or not at all. Some
 * hundred rows are in memory at any time.
 */
#pragma once

/* Exit code; the last line says what is wrong. `url` is MIRROR_URL, NULL when it is not set. */
int learner_print(const char *url);
