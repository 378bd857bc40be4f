/* attack_files.c - files that a worker would read or change that was taken over (attacks.h). */
#include "tests/confine/attacks.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

int attack_read_file(void)
{
	return fd_result(open(OWN("file"), O_RDONLY));
}
int attack_read_ssh(void)
{
	return fd_result(open(at(getenv("HOME"), ".ssh/id"), O_RDONLY));
}
int attack_read_proc(void)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)victim);
	return fd_result(open(path, O_RDONLY));
}
int attack_list(void)
{
	return fd_result(open(place, O_RDONLY | O_DIRECTORY));
}
int attack_write_file(void)
{
	return fd_result(open(OWN("file"), O_WRONLY));
}
int attack_empty_by_open(void)
{
	return fd_result(open(OWN("file"), O_RDONLY | O_TRUNC));
}
int attack_truncate_file(void)
{
	return result(truncate(OWN("file"), 0));
}
int attack_create(void)
{
	return fd_result(open(OWN("new"), O_CREAT | O_WRONLY, 0600));
}
int attack_make_directory(void)
{
	return result(mkdir(OWN("dir"), 0700));
}
int attack_make_link(void)
{
	return result(link(OWN("file"), OWN("linked")));
}
int attack_make_symlink(void)
{
	return result(symlink("file", OWN("symlink")));
}
int attack_rename_file(void)
{
	return result(rename(OWN("rename"), OWN("renamed")));
}
int attack_remove_file(void)
{
	return result(unlink(OWN("remove")));
}
int attack_mode(void)
{
	return result(chmod(OWN("file"), 0644));
}
int attack_mode_at(void)
{
	return result(fchmodat(AT_FDCWD, OWN("file"), 0644, 0));
}
int attack_mode_at2(void)
{
	return result(syscall(452, AT_FDCWD, OWN("file"), 0644, 0));
}
int attack_owner(void)
{
	return result(chown(OWN("file"), getuid(), getgid()));
}
int attack_owner_link(void)
{
	return result(lchown(OWN("file"), getuid(), getgid()));
}
int attack_attribute(void)
{
	return result(setxattr(OWN("file"), "user.x", "y", 1, 0));
}
int attack_attribute_at(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} args = {(uintptr_t) "y", 1, 0};

	return result(
		syscall(463, AT_FDCWD, OWN("file"), 0, "user.x", &args, sizeof(args)));
}
int attack_attribute_off(void)
{
	return result(removexattr(OWN("file"), "user.there"));
}
int attack_times(void)
{
	return result(utimensat(AT_FDCWD, OWN("file"), NULL, 0));
}
int attack_others_folder(void)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s/attack", getenv("PAIGE_RUNTIME_DIR"),
		strcmp(worker, "observer") == 0 ? "store" : "observer");
	return fd_result(open(path, O_CREAT | O_WRONLY, 0600));
}
int attack_stores_data(void)
{
	return fd_result(open(at(getenv("DATA_DIR"), "kept"), O_RDONLY));
}
int attack_read_token(void)
{
	return fd_result(open(at(getenv("DATA_DIR"), "token"), O_RDONLY));
}
int attack_read_project(void)
{
	return fd_result(open(at(getenv("PROJECT_DIR"), "README.md"), O_RDONLY));
}
