/* session.c - see session.h. */
#include "workers/gateway/mcp/session.h"
#include "common/base/alloc.h"
#include "common/base/ids.h"
#include "workers/gateway/mcp/stream.h"
#include <stdlib.h>

#define BUCKETS 1024

struct mcp_sessions {
	bool has_key;
	unsigned char key[MCP_KEY_BYTES];
	LIST_HEAD(bucket, mcp_session) buckets[BUCKETS];
	TAILQ_HEAD(, mcp_session) by_age;
	size_t count;
	uint64_t *counter;
	struct mcp_session_id ended[MCP_MAX_ENDED];
	uint64_t ended_count; /* ever */
};

static struct bucket *bucket_of(struct mcp_sessions *s, struct mcp_session_id id)
{
	/* The proof is as good as a hash. */
	return &s->buckets[(id.bytes[14] << 8 | id.bytes[15]) % BUCKETS];
}

static bool same(struct mcp_session_id a, struct mcp_session_id b)
{
	return memcmp(a.bytes, b.bytes, sizeof(a.bytes)) == 0;
}

static bool was_ended(const struct mcp_sessions *s, struct mcp_session_id id)
{
	uint64_t n = s->ended_count < MCP_MAX_ENDED ? s->ended_count : MCP_MAX_ENDED;

	for (uint64_t i = 0; i < n; i++)
		if (same(s->ended[i], id))
			return true;
	return false;
}

static void forget(struct mcp_sessions *s, struct mcp_session *session)
{
	TAILQ_REMOVE(&s->by_age, session, age);
	LIST_REMOVE(session, bucket);
	s->count--;
	*s->counter = s->count;
	free(session);
}

/* Makes room: the session unused for longest that does nothing now; one that only listens
 * if need be. */
static void evict(struct mcp_sessions *s)
{
	struct mcp_session *session, *listening = NULL;

	TAILQ_FOREACH(session, &s->by_age, age)
	{
		if (session->calls > 0)
			continue;
		if (LIST_EMPTY(&session->streams)) {
			forget(s, session);
			return;
		}
		if (!listening)
			listening = session;
	}
	if (listening) {
		mcp_streams_end(listening);
		forget(s, listening);
	}
}

static struct mcp_session *add(
	struct mcp_sessions *s, struct mcp_session_id id, enum mcp_version version)
{
	struct mcp_session *session;

	if (s->count >= MCP_MAX_SESSIONS)
		evict(s);
	session = xcalloc(1, sizeof(*session));
	session->id = id;
	session->version = version;
	LIST_INIT(&session->streams);
	LIST_INSERT_HEAD(bucket_of(s, id), session, bucket);
	TAILQ_INSERT_TAIL(&s->by_age, session, age);
	s->count++;
	*s->counter = s->count;
	return session;
}

struct mcp_session *mcp_sessions_create(struct mcp_sessions *s, enum mcp_version version)
{
	uint8_t random[7];

	random_bytes(random, sizeof(random));
	return add(s, mcp_session_id_make(s->key, random, version), version);
}

struct mcp_session *mcp_sessions_find(struct mcp_sessions *s, struct str text)
{
	struct mcp_session_id id;
	enum mcp_version version;
	struct mcp_session *session;

	if (mcp_session_id_read(text, &id) < 0)
		return NULL;
	LIST_FOREACH(session, bucket_of(s, id), bucket)
	{
		if (!same(session->id, id))
			continue;
		TAILQ_REMOVE(&s->by_age, session, age);
		TAILQ_INSERT_TAIL(&s->by_age, session, age);
		return session;
	}
	/* One that is not in the table proves itself. */
	if (mcp_session_id_check(s->key, id, &version) < 0 || was_ended(s, id))
		return NULL;
	return add(s, id, version);
}

void mcp_sessions_end(struct mcp_sessions *s, struct mcp_session *session)
{
	s->ended[s->ended_count++ % MCP_MAX_ENDED] = session->id;
	forget(s, session);
}

void mcp_sessions_note_ended(struct mcp_sessions *s, struct str text)
{
	struct mcp_session_id id;
	enum mcp_version version;

	if (mcp_session_id_read(text, &id) == 0 &&
		mcp_session_id_check(s->key, id, &version) == 0)
		s->ended[s->ended_count++ % MCP_MAX_ENDED] = id;
}

struct mcp_session *mcp_sessions_first(struct mcp_sessions *s)
{
	return TAILQ_FIRST(&s->by_age);
}

struct mcp_sessions *mcp_sessions_new(uint64_t *count)
{
	struct mcp_sessions *s = xcalloc(1, sizeof(*s));

	s->counter = count;
	TAILQ_INIT(&s->by_age);
	for (size_t i = 0; i < BUCKETS; i++)
		LIST_INIT(&s->buckets[i]);
	return s;
}

void mcp_sessions_free(struct mcp_sessions *s)
{
	struct mcp_session *session;

	while ((session = TAILQ_FIRST(&s->by_age)))
		forget(s, session);
	free(s);
}

void mcp_sessions_set_key(struct mcp_sessions *s, const unsigned char key[MCP_KEY_BYTES])
{
	memcpy(s->key, key, MCP_KEY_BYTES);
	s->has_key = true;
}

bool mcp_sessions_have_key(const struct mcp_sessions *s)
{
	return s->has_key;
}
