/* The component in C, by wasmtime's C API (from version 44 on): `judge COMPONENT POLICY ANNOTATIONS CALL` prints the decision and the
 * arguments to send. The host answers for real paths; it has no repositories, and a question about one denies the call. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wasmtime.h>
#include <wasmtime/component.h>

typedef wasmtime_component_val_t value;

static wasm_name_t name_of(const char *text) {
    wasm_name_t name;
    wasm_byte_vec_new(&name, strlen(text), text);
    return name;
}

static value text(const char *given) {
    return (value){.kind = WASMTIME_COMPONENT_STRING, .of.string = name_of(given)};
}

static value none(void) {
    return (value){.kind = WASMTIME_COMPONENT_OPTION, .of.option = NULL};
}

static value variant(const char *tag, value *payload) {
    value made = {.kind = WASMTIME_COMPONENT_VARIANT};
    made.of.variant.discriminant = name_of(tag);
    made.of.variant.val = payload == NULL ? NULL : wasmtime_component_val_new(payload);
    return made;
}

static value record(size_t count, const char *const *names, const value *members) {
    value made = {.kind = WASMTIME_COMPONENT_RECORD};
    wasmtime_component_valrecord_new_uninit(&made.of.record, count);
    for (size_t at = 0; at < count; at++)
        made.of.record.data[at] = (wasmtime_component_valrecord_entry_t){name_of(names[at]), members[at]};
    return made;
}

static value *member(value *of, const char *name) {
    for (size_t at = 0; at < of->of.record.size; at++) {
        wasmtime_component_valrecord_entry_t *entry = &of->of.record.data[at];
        if (entry->name.size == strlen(name) && memcmp(entry->name.data, name, entry->name.size) == 0) return &entry->val;
    }
    abort();
}

/* What fails here ends the program. In one that goes on, it denies the call, and the instance is used no more. */
static void check(wasmtime_error_t *error) {
    if (error == NULL) return;
    wasm_name_t message;
    wasmtime_error_message(error, &message);
    fprintf(stderr, "%.*s\n", (int)message.size, message.data);
    exit(4);
}

/* The paths of questions come with their length. */
static char *path_of(const value *given) {
    return strndup(given->of.string.data, given->of.string.size);
}

typedef wasmtime_error_t *answer(void *, wasmtime_context_t *, const wasmtime_component_func_type_t *, value *, size_t, value *, size_t);
#define ANSWER(name) \
    static wasmtime_error_t *name(void *data, wasmtime_context_t *context, const wasmtime_component_func_type_t *type, value *given, \
                                  size_t count, value *result, size_t results)

ANSWER(home_dir) {
    const char *home = getenv("HOME");
    *result = text(home == NULL ? "/" : home);
    return NULL;
}

ANSWER(current_dir) {
    char here[PATH_MAX];
    *result = text(getcwd(here, sizeof here) == NULL ? "/" : here);
    return NULL;
}

ANSWER(ignores_path_case) {
    *result = (value){.kind = WASMTIME_COMPONENT_BOOL, .of.boolean = false};
    return NULL;
}

ANSWER(real_path) {
    char *path = path_of(given), real[PATH_MAX];
    if (realpath(path, real) != NULL) {
        value at = text(real);
        *result = variant("at", &at);
    } else {
        *result = variant(errno == ENOENT || errno == ENOTDIR   ? "not-found"
                          : errno == ELOOP                      ? "too-many-links"
                          : errno == EACCES || errno == EPERM   ? "denied"
                                                                : "other",
                          NULL);
    }
    free(path);
    return NULL;
}

ANSWER(read_link) {
    char *path = path_of(given), target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length >= 0) {
        target[length] = 0;
        value to = text(target);
        *result = variant("to", &to);
    } else if (errno == EINVAL || errno == ENOENT || errno == ENOTDIR) {
        *result = variant("absent", NULL);
    } else {
        const char *const names[] = {"message"};
        value message = text(strerror(errno)), error = record(1, names, &message);
        *result = variant("failed", &error);
    }
    free(path);
    return NULL;
}

ANSWER(is_directory) {
    char *path = path_of(given);
    struct stat found;
    *result = variant(stat(path, &found) == 0 && S_ISDIR(found.st_mode) ? "yes" : "no", NULL);
    free(path);
    return NULL;
}

ANSWER(unanswered) {
    return wasmtime_error_new("this host has no repositories, roles and conditions");
}

static wasmtime_component_func_t function(wasmtime_component_instance_t *instance, wasmtime_context_t *context, const char *name) {
    static const char engine[] = "callgate:gate/engine@0.1.0";
    wasmtime_component_func_t found;
    wasmtime_component_export_index_t *of = wasmtime_component_instance_get_export_index(instance, context, NULL, engine, strlen(engine));
    wasmtime_component_export_index_t *at = wasmtime_component_instance_get_export_index(instance, context, of, name, strlen(name));
    if (at == NULL || !wasmtime_component_instance_get_func(instance, context, at, &found)) abort();
    wasmtime_component_export_index_delete(at);
    wasmtime_component_export_index_delete(of);
    return found;
}

static value called(wasmtime_component_instance_t *instance, wasmtime_context_t *context, const char *name, value *given, size_t count) {
    wasmtime_component_func_t callee = function(instance, context, name);
    value result;
    check(wasmtime_component_func_call(&callee, context, given, count, &result, 1));
    check(wasmtime_component_func_post_return(&callee, context));
    return result;
}

static wasm_byte_vec_t content(const char *path) {
    wasm_byte_vec_t bytes;
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
        perror(path);
        exit(4);
    }
    rewind(file);
    wasm_byte_vec_new_uninitialized(&bytes, (size_t)size);
    if (fread(bytes.data, 1, bytes.size, file) != bytes.size) exit(4);
    fclose(file);
    return bytes;
}

static value document(const char *name, const char *path) {
    static const char *const names[] = {"name", "text"};
    value members[] = {text(name), {.kind = WASMTIME_COMPONENT_STRING, .of.string = content(path)}};
    return record(2, names, members);
}

int main(int count, char **given) {
    if (count != 5) return 4;
    wasm_engine_t *engine = wasm_engine_new();
    wasmtime_store_t *store = wasmtime_store_new(engine, NULL, NULL);
    wasmtime_context_t *context = wasmtime_store_context(store);
    wasm_byte_vec_t bytes = content(given[1]);
    wasmtime_component_t *component;
    check(wasmtime_component_new(engine, (const uint8_t *)bytes.data, bytes.size, &component));

    wasmtime_component_linker_t *linker = wasmtime_component_linker_new(engine);
    wasmtime_component_linker_instance_t *root = wasmtime_component_linker_root(linker), *host;
    static const char types[] = "callgate:gate/types@0.1.0", imported[] = "callgate:gate/host@0.1.0";
    check(wasmtime_component_linker_instance_add_instance(root, types, strlen(types), &host));
    wasmtime_component_linker_instance_delete(host);
    check(wasmtime_component_linker_instance_add_instance(root, imported, strlen(imported), &host));
    static const struct {
        const char *name;
        answer *answer;
    } answers[] = {
        {"home-dir", home_dir}, {"current-dir", current_dir}, {"ignores-path-case", ignores_path_case}, {"realpath", real_path},
        {"read-link", read_link}, {"is-directory", is_directory}, {"git-remote-urls", unanswered},
        {"git-default-remote-urls", unanswered}, {"git-url", unanswered}, {"git-branch", unanswered}, {"git-push-refs", unanswered},
        {"git-check-ignore", unanswered}, {"role-value", unanswered}, {"condition", unanswered},
    };
    for (size_t at = 0; at < sizeof answers / sizeof *answers; at++)
        check(wasmtime_component_linker_instance_add_func(host, answers[at].name, strlen(answers[at].name), answers[at].answer, NULL, NULL));
    wasmtime_component_linker_instance_delete(host);
    wasmtime_component_linker_instance_delete(root);
    wasmtime_component_instance_t instance;
    check(wasmtime_component_linker_instantiate(linker, context, component, &instance));

    value documents = {.kind = WASMTIME_COMPONENT_LIST};
    wasmtime_component_vallist_new_uninit(&documents.of.list, 2);
    documents.of.list.data[0] = document("policy", given[2]);
    documents.of.list.data[1] = document("annotations", given[3]);
    value loaded = called(&instance, context, "[static]engine.load", &documents, 1);
    if (!loaded.of.result.is_ok) {
        printf("%.*s\n", (int)loaded.of.result.val->of.string.size, loaded.of.result.val->of.string.data);
        return 4;
    }

    static const char *const names[] = {"call", "context", "paths", "explain", "approvals"};
    value no_container = none();
    value members[] = {text(given[4]), none(), variant("gate", &no_container), none(), none()};
    value request[] = {*loaded.of.result.val, record(5, names, members)};
    value judged = called(&instance, context, "[method]engine.judge", request, 2);
    if (!judged.of.result.is_ok) return 4;
    value *verdict = member(judged.of.result.val, "verdict"), *sent = member(judged.of.result.val, "arguments");
    wasm_name_t decision = member(verdict, "decision")->of.variant.discriminant, rule = member(verdict, "rule")->of.string;
    printf("%.*s by %.*s\n", (int)decision.size, decision.data, (int)rule.size, rule.data);
    if (decision.size != strlen("allow") || memcmp(decision.data, "allow", decision.size) != 0) return 2;
    if (sent->of.option != NULL) printf("%.*s\n", (int)sent->of.option->of.string.size, sent->of.option->of.string.data);
    return 0;
}
