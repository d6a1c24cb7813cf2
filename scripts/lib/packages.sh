# SPDX-License-Identifier: BSL-1.0
# Debian packages by purpose, and weft_install, which gets the missing ones.

packages_build=(g++ cmake ninja-build pkg-config liburing-dev libc-ares-dev)
packages_demo=("${packages_build[@]}" libcli11-dev libfmt-dev)
packages_test=("${packages_demo[@]}" python3 gdb libgtest-dev libgmock-dev libasio-doc)
packages_bench=("${packages_build[@]}" python3 python3-matplotlib libasio-dev valgrind
  libboost-context-dev libboost-fiber-dev)
packages_format=(clang-format-19)
packages_ci=("${packages_test[@]}" "${packages_format[@]}" clang-19 clang-tidy-19
  libclang-rt-19-dev llvm-19)

# weft_install PACKAGE...: installs those that are missing, as root or through sudo; asks the
# archive for its lists only then.
weft_install() {
  local package missing=()
  if ! command -v dpkg-query apt-get >/dev/null; then
    echo "weft: no apt here; these Debian packages, or what they hold, are needed: $*" >&2
    return 0
  fi
  for package in "$@"; do
    case "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null)" in
      ii*) ;;
      *) missing+=("$package") ;;
    esac
  done
  if ((${#missing[@]} == 0)); then
    return 0
  fi

  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
      echo "weft: missing packages, and neither root nor sudo to install them. Ask for:" >&2
      echo "  apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "weft: installing ${missing[*]}" >&2
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
  {
    "${as_root[@]}" update &&
      "${as_root[@]}" install --yes --no-install-recommends "${missing[@]}"
  } >&2 </dev/null
}
