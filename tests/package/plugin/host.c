// host PLUGIN NODES: loads the plugin, lets it work, and unloads it, twice.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  for (int turn = 0; turn < 2; ++turn) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
      fprintf(stderr, "host: %s\n", dlerror());
      return 1;
    }
    int (*work)(const char*) = NULL;
    *(void**)&work = dlsym(plugin, "plugin_work");
    if (work == NULL || work(argv[2]) != 0) return 1;
    dlclose(plugin);
  }
  return 0;
}
