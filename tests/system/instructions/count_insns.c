/* Plugin for qemu-user that counts the instructions that the emulated program executes, in all its threads.
 *
 * The declarations are those of qemu-plugin.h (docs/devel/tcg-plugins.rst), which Debian does not package. Compile it
 * with -DPLUGIN_API=1 for QEMU before 9.0, and with 2 for later versions. The number is written to the file named by
 * the environment variable INSTRUCTIONS when the program ends.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t plugin_id;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*call)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, void (*call)(unsigned, void *),
                                                 int flags, void *data);
extern void qemu_plugin_register_atexit_cb(plugin_id id, void (*call)(plugin_id, void *), void *data);

int qemu_plugin_version = PLUGIN_API;

static uint64_t count;

static void execute_block(unsigned cpu, void *instructions)
{
    (void)cpu;
    __atomic_fetch_add(&count, (uint64_t)(uintptr_t)instructions, __ATOMIC_RELAXED);
}

static void translate_block(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(block, execute_block, 0, (void *)(uintptr_t)qemu_plugin_tb_n_insns(block));
}

static void write_count(plugin_id id, void *data)
{
    const char *path = getenv("INSTRUCTIONS");
    FILE *file = path ? fopen(path, "w") : NULL;
    (void)id;
    (void)data;
    if (file) {
        fprintf(file, "%" PRIu64 "\n", count);
        fclose(file);
    }
}

int qemu_plugin_install(plugin_id id, const qemu_info_t *info, int count_of_arguments, char **arguments)
{
    (void)info;
    (void)count_of_arguments;
    (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translate_block);
    qemu_plugin_register_atexit_cb(id, write_count, NULL);
    return 0;
}
