/*
 * command_open.c - paigectl open: the web client in a browser.
 *
 * A browser of this user needs no token: the kernel tells the gateway whose it is. One of somebody else is asked for it
 * by the page itself, so the token never stands in an address, which browsers and proxies remember.
 */
#include "proto/codec/messages.h"
#include "supervisor/paigectl/paigectl.h"
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK_MS 10000
#define BROWSER_MS 3000

extern char **environ;

/* True when xdg-open has taken the address. */
static bool in_browser(char *url)
{
	char program[] = "xdg-open";
	char *const argv[] = {program, url, NULL};
	posix_spawn_file_actions_t quiet;
	int status = -1;
	pid_t pid;
	struct pollfd end = {.fd = -1, .events = POLLIN};

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return false;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&quiet, STDOUT_FILENO, STDERR_FILENO);
	if (posix_spawnp(&pid, program, &quiet, NULL, argv, environ) == 0)
		end.fd = pidfd_open(pid, 0);
	posix_spawn_file_actions_destroy(&quiet);
	if (end.fd < 0)
		return false;
	/* On some desktops it stays as long as the browser does. */
	if (poll(&end, 1, BROWSER_MS) == 0)
		status = 0;
	else
		(void)waitpid(pid, &status, 0);
	close(end.fd);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int paigectl_open(const struct options *o)
{
	AUTO_PLACE place = {0};
	AUTO_ARENA arena = {0};
	struct ctl_status status;
	AUTO_DOC *doc = NULL;
	char *url;
	bool opened;
	int code = place_find(o, &place);

	if (code == PAIGECTL_DONE)
		code = client_status(&place, ASK_MS, &arena, &status, &doc);
	if (code == PAIGECTL_DONE) {
		url = arena_cstr(&arena, status.url);
		opened = !options_get(o, "print") && in_browser(url);
		if (options_get(o, "json"))
			code = paigectl_print_message(paigectl_opened_type(),
				&(struct paigectl_opened){.url = status.url,
					.opened = opened,
					.has_opened = true});
		else if (opened)
			printf("%s is open in your browser.\n", url);
		else
			printf("%s\n", url);
	}
	return code;
}
