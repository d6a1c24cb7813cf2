// SPDX-License-Identifier: BSL-1.0
#include "observe/symbols.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

namespace WEFT_NAMESPACE::observe {
namespace {

#define WEFT_TEXT_OF(x) #x
#define WEFT_TEXT(x) WEFT_TEXT_OF(x)
constexpr std::string_view own_namespace = WEFT_TEXT(WEFT_NAMESPACE);
#undef WEFT_TEXT
#undef WEFT_TEXT_OF

/// Whether a mangled name is that of something in weft's namespace (or local to something there),
/// or of an instance of the standard library's for that, such as std::apply of an operation.
bool is_own(std::string_view mangled) {
  if (!mangled.starts_with("_Z"))
    return false;
  // Locals, nested names, and the qualifiers of member functions.
  mangled.remove_prefix(std::min(mangled.find_first_not_of("ZNKRO", 2), mangled.size()));
  const auto own = std::to_string(own_namespace.size()).append(own_namespace);
  return mangled.starts_with(own) ||
         (mangled.starts_with("St") && mangled.find(own) != mangled.npos);
}

std::string demangle(const char* name) {
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, nullptr), &std::free);
  return text ? text.get() : name;
}

}  // namespace

symbols::~symbols() {
  for (auto& [path, m] : modules_)
    if (m.memory)
      ::munmap(m.memory, m.size);
}

const symbols::module& symbols::load(const std::string& path) {
  const auto [place, is_new] = modules_.try_emplace(path);
  module& m = place->second;
  if (!is_new)
    return m;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return m;
  struct stat status{};
  if (::fstat(fd, &status) == 0 && status.st_size > 0) {
    m.size = static_cast<std::size_t>(status.st_size);
    void* const memory = ::mmap(nullptr, m.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED)
      m.memory = memory;
  }
  ::close(fd);
  if (m.memory)
    read(m);
  return m;
}

void symbols::read(module& m) {
  const auto* const begin = static_cast<const char*>(m.memory);
  /// `count` objects at `offset`, or null if the file is shorter than it says.
  const auto at = [&]<class T>(const T*, std::size_t offset, std::size_t count) -> const T* {
    if (offset > m.size || count > (m.size - offset) / sizeof(T) || offset % alignof(T) != 0)
      return nullptr;
    return reinterpret_cast<const T*>(begin + offset);
  };
  const auto* const header = at(static_cast<ElfW(Ehdr)*>(nullptr), 0, 1);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32))
    return;
  const std::size_t count = header->e_shnum;
  const auto* const sections = at(static_cast<ElfW(Shdr)*>(nullptr), header->e_shoff, count);
  if (!sections)
    return;
  const ElfW(Shdr)* table = nullptr;
  for (std::size_t i = 0; i != count; ++i)
    if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !table))
      table = &sections[i];
  if (!table || table->sh_link >= count)
    return;
  const ElfW(Shdr)& names = sections[table->sh_link];
  const std::size_t symbol_count = table->sh_size / sizeof(ElfW(Sym));
  const auto* const entries = at(static_cast<ElfW(Sym)*>(nullptr), table->sh_offset, symbol_count);
  const auto* const text = at(static_cast<char*>(nullptr), names.sh_offset, names.sh_size);
  if (!entries || !text || names.sh_size == 0 || text[names.sh_size - 1] != '\0')
    return;
  for (std::size_t i = 0; i != symbol_count; ++i) {
    const ElfW(Sym)& s = entries[i];
    if ((s.st_info & 0xf) == STT_FUNC && s.st_value != 0 && s.st_name < names.sh_size)
      m.functions.push_back({s.st_value, s.st_size, text + s.st_name});
  }
  std::sort(m.functions.begin(), m.functions.end(),
            [](const symbol& a, const symbol& b) { return a.address < b.address; });
}

/// `inside` is in the function, also if `address` is where a call that never returns would go on.
stack_frame symbols::name(std::uintptr_t address, std::uintptr_t inside, bool& own) {
  stack_frame frame;
  frame.address = address;
  Dl_info info{};
  link_map* map = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(inside), &info, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0 ||
      !map)
    return frame;
  // The program itself has no name there.
  const bool is_program = map->l_name[0] == '\0';
  frame.module = is_program ? (info.dli_fname ? info.dli_fname : "") : map->l_name;
  frame.offset = address - map->l_addr;
  const module& m = load(is_program ? "/proc/self/exe" : frame.module);
  const std::uintptr_t place = inside - map->l_addr;
  auto found =
      std::upper_bound(m.functions.begin(), m.functions.end(), place,
                       [](std::uintptr_t value, const symbol& s) { return value < s.address; });
  const char* name = nullptr;
  if (found != m.functions.begin() && place - (--found)->address < found->size) {
    name = found->name;
    frame.into = frame.offset - found->address;
  } else if (info.dli_sname) {
    name = info.dli_sname;
    frame.into = address - reinterpret_cast<std::uintptr_t>(info.dli_saddr);
  }
  if (name) {
    frame.function = demangle(name);
    own = is_own(name);
  }
  return frame;
}

call_stack symbols::name(std::span<void* const> addresses, bool is_interrupted) {
  call_stack stack;
  for (void* const a : addresses) {
    const auto address = reinterpret_cast<std::uintptr_t>(a);
    const bool is_exact = stack.empty() && is_interrupted;
    bool own = false;
    stack.push_back(name(address, is_exact ? address : address - 1, own));
  }
  return stack;
}

call_stack symbols::name_callers(std::span<void* const> addresses) {
  return name_without_own(addresses, false);
}

call_stack symbols::name_calls_between(std::span<void* const> addresses) {
  return name_without_own(addresses, true);
}

call_stack symbols::name_without_own(std::span<void* const> addresses, bool at_both_ends) {
  call_stack stack;
  std::size_t own_calls = 0, others_end = 0;
  bool past_own = false;
  for (void* const a : addresses) {
    const auto address = reinterpret_cast<std::uintptr_t>(a);
    bool own = false;
    stack.push_back(name(address, address - 1, own));
    past_own = past_own || (!own && own_calls != 0);
    if (!own)
      others_end = stack.size();
    else if (!past_own)
      own_calls = stack.size();
  }
  if (at_both_ends && others_end != 0)
    stack.resize(others_end);
  if (past_own)
    stack.erase(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(own_calls));
  return stack;
}

std::string to_string(const call_stack& stack) {
  std::string text;
  const auto hexadecimal = [](std::uintptr_t n) {
    std::string digits;
    do
      digits.insert(digits.begin(), "0123456789abcdef"[n % 16]);
    while ((n /= 16) != 0);
    return "0x" + digits;
  };
  for (const stack_frame& f : stack) {
    text += f.function.empty() ? "?" : f.function + "+" + hexadecimal(f.into);
    text += f.module.empty() ? " (" + hexadecimal(f.address) + ")\n"
                             : " (" + f.module + "+" + hexadecimal(f.offset) + ")\n";
  }
  return text;
}

std::string type_name(const char* type_text) {
  const std::string_view text(type_text);
  // "... type_text() [with T = X]" by GCC, "... type_text() [T = X]" by clang.
  constexpr std::string_view before = "T = ";
  const std::size_t begin = text.find(before, text.find('['));
  if (begin == text.npos || !text.ends_with(']'))
    return std::string(text);
  return std::string(text.substr(begin + before.size(), text.size() - begin - before.size() - 1));
}

}  // namespace WEFT_NAMESPACE::observe
