/* resume.c - see resume.h. */
#include "workers/gateway/ws/resume.h"
#include <string.h>

void resume_start(struct resume_log *log, uint64_t last_broadcast)
{
	*log = (struct resume_log){.base = last_broadcast};
}

uint64_t resume_note_live(struct resume_log *log)
{
	return ++log->last_seq;
}

static void forget_oldest(struct resume_log *log)
{
	log->forgotten += log->runs[0].count;
	log->forgotten_until = log->runs[0].first_seq + log->runs[0].count - 1;
	log->run_count--;
	memmove(log->runs, log->runs + 1, log->run_count * sizeof(log->runs[0]));
}

/* `broadcast` is 0 for a direct message. */
static uint64_t note(struct resume_log *log, uint64_t broadcast)
{
	struct resume_run *run = log->run_count ? &log->runs[log->run_count - 1] : NULL;
	uint64_t seq = ++log->last_seq;
	uint64_t follows =
		run && run->first_broadcast ? run->first_broadcast + run->count : 0;

	if (run && run->first_seq + run->count == seq && follows == broadcast) {
		run->count++;
		return seq;
	}
	if (log->run_count == RESUME_MAX_RUNS)
		forget_oldest(log);
	log->runs[log->run_count++] = (struct resume_run){
		.first_seq = seq, .count = 1, .first_broadcast = broadcast};
	return seq;
}

uint64_t resume_note_direct(struct resume_log *log)
{
	return note(log, 0);
}

uint64_t resume_note_again(struct resume_log *log, uint64_t broadcast)
{
	return note(log, broadcast);
}

int resume_missed(const struct resume_log *log, uint64_t seq, uint64_t last_broadcast,
	struct resume_range out[RESUME_MAX_RANGES])
{
	uint64_t others = log->forgotten, live;
	int n = 0;

	if (seq > log->last_seq || seq < log->forgotten_until)
		return -1;
	for (unsigned i = 0; i < log->run_count; i++) {
		const struct resume_run *run = &log->runs[i];
		uint64_t seen = 0;

		if (seq >= run->first_seq)
			seen = seq - run->first_seq + 1;
		if (seen > run->count)
			seen = run->count;
		others += seen;
		if (!run->first_broadcast || seen == run->count)
			continue;
		if (n == RESUME_MAX_RANGES - 1)
			return -1;
		out[n++] = (struct resume_range){run->first_broadcast + seen,
			run->first_broadcast + run->count - 1};
	}
	live = log->base + (seq - others);
	if (live < last_broadcast)
		out[n++] = (struct resume_range){live + 1, last_broadcast};
	return n;
}
