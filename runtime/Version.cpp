//===- Version.cpp - which build this is ----------------------------------===//
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <link.h>
#include <string>
#include <sys/stat.h>

extern "C" const char *tilewrightVersion() { return "0.1.0"; }

namespace {

/// The libraries whose code decides what a program compiles to.
constexpr const char *compilerLibraries[] = {"libtilewright.so", "libMLIRPythonCAPI.so", "libLLVM"};

/// The identity that the linker gave a loaded library, a hash of its contents; "" where it gave none.
std::string buildId(const dl_phdr_info &library) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = library.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(library.dlpi_addr + segment.p_vaddr), *end = at + segment.p_memsz;
    // Notes of 8-byte alignment exist, but this one's parts are multiples of 4 and padded to no more.
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char *name = at + sizeof note, *data = name + (note.n_namesz + 3) / 4 * 4;
      if (data + note.n_descsz > end)
        break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        std::string text;
        for (uint32_t byte = 0; byte < note.n_descsz; ++byte) {
          constexpr char digits[] = "0123456789abcdef";
          text += digits[uint8_t(data[byte]) >> 4];
          text += digits[uint8_t(data[byte]) & 15];
        }
        return text;
      }
      at = data + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

/// Which file a library without a build id is, as well as the file system says.
std::string fileIdentity(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0)
    return path;
  return std::string(path) + " " + std::to_string(found.st_size) + " " + std::to_string(found.st_mtim.tv_sec) + "." +
         std::to_string(found.st_mtim.tv_nsec);
}

int addIdentity(dl_phdr_info *library, size_t, void *text) {
  const char *slash = std::strrchr(library->dlpi_name, '/');
  const char *name = slash ? slash + 1 : library->dlpi_name;
  for (const char *wanted : compilerLibraries) {
    if (std::strncmp(name, wanted, std::strlen(wanted)) != 0)
      continue;
    std::string id = buildId(*library);
    *static_cast<std::string *>(text) +=
        std::string(wanted) + " " + (id.empty() ? fileIdentity(library->dlpi_name) : id) + "\n";
  }
  return 0;
}

} // namespace

/// What was compiled by one set of these libraries may differ from what another makes: a line for each that is loaded.
extern "C" const char *tilewrightCompilerIdentity() {
  static const std::string text = [] {
    std::string found;
    dl_iterate_phdr(addIdentity, &found);
    return found;
  }();
  return text.c_str();
}
