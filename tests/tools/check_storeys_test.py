#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""scripts/check_storeys accepts a house in order and names each kind of disorder."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).parent.parent.parent / "scripts" / "check_storeys"


class CheckStoreys(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([sys.executable, CHECK, folder], capture_output=True, text=True,
                                  check=False)
            return done.returncode, done.stdout

    def refuses(self, files, message):
        status, output = self.check(files)
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_accepts_includes_of_the_own_and_lower_storeys(self):
        status, output = self.check({
            "include/weft.hpp": "#include <weft/net/tcp.hpp>\n",
            "include/weft/base/error.hpp": "#pragma once\n#include <system_error>\n",
            "include/weft/net/ip.hpp": "#pragma once\n",
            "include/weft/net/tcp.hpp": "#include <weft/base/error.hpp>\n#include <weft/net/ip.hpp>\n",
            "include/weft/coro/awaitable.hpp": "#include <weft/sync/event.hpp>\n",
            "include/weft/sync/event.hpp": "#include <weft/context/post.hpp>\n",
            "include/weft/context/post.hpp": "",
            "src/net/tcp.cpp": '#include <sys/socket.h>\n#include "net/raw.hpp"\n',
            "src/net/raw.hpp": "#include <netinet/in.h>\n",
        })
        self.assertEqual(status, 0, output)

    def test_refuses_a_header_that_includes_a_higher_storey(self):
        self.refuses({"include/weft/base/error.hpp": "\n#include <weft/io/buffer.hpp>\n"},
                     "include/weft/base/error.hpp:2: base includes weft/io/buffer.hpp")

    def test_refuses_storeys_that_stand_beside_each_other(self):
        self.refuses({"include/weft/sync/mutex.hpp": "#  include <weft/io/timer.hpp>\n"},
                     "io is not below sync")
        self.refuses({"include/weft/net/tcp.hpp": "#include <weft/coro/awaitable.hpp>\n"},
                     "coro is not below net")

    def test_refuses_a_source_that_includes_a_higher_storey_by_a_private_path(self):
        self.refuses({"src/context/run.cpp": '#include "io/backend.hpp"\n',
                      "src/io/backend.hpp": ""}, "io is not below context")
        self.refuses({"src/context/run.cpp": '#include "../io/backend.hpp"\n',
                      "src/io/backend.hpp": ""}, "io is not below context")

    def test_refuses_operating_system_headers_in_public_headers(self):
        for name in ("sys/socket.h", "unistd.h", "liburing.h"):
            self.refuses({"include/weft/io/file.hpp": f"#include <{name}>\n"},
                         f"includes <{name}>, which belongs in src/")

    def test_refuses_the_umbrella_and_files_of_no_storey(self):
        self.refuses({"include/weft/io/file.hpp": "#include <weft.hpp>\n"}, "umbrella")
        self.refuses({"include/weft/misc/file.hpp": ""}, "is in no storey")
        self.refuses({"include/other.hpp": ""}, "is in no storey")


if __name__ == "__main__":
    unittest.main()
