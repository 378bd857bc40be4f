/* solicitation.c - see solicitation.h. */
#include "workers/guard-engine/phrases/solicitation.h"
#include "workers/guard-engine/phrases/phrases.h"

static const struct phrase sets[] = {
#define SET(name, alternatives) {#name, alternatives},
#define PHRASING(name, pattern)
#include "config/solicitation.def"
#undef SET
#undef PHRASING
};

static const struct phrase phrasings[] = {
#define SET(name, alternatives)
#define PHRASING(name, pattern) {name, pattern},
#include "config/solicitation.def"
#undef SET
#undef PHRASING
};

const char *solicitation_find(struct str text)
{
	static const struct phrases table = PHRASES(sets, phrasings);

	return phrases_find(&table, text);
}
