# SPDX-License-Identifier: BSL-1.0
"""How Asio's example programs are run, and what they have to do. A run raises if they do not."""
import contextlib
import re
import socket
import subprocess
import threading
import time

PATIENCE = 60  # seconds, until something that has to happen counts as not happening


def substitutions(work):
    """What is replaced in the sources besides the name, so that they can be run here: a fixed port
    (by one that is left in the file `port` for the run), and a number of turns that takes minutes."""
    port = str(free_port())
    (work / "port").write_text(port)
    return [("55555", port), ("50000000", "50000")]


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


@contextlib.contextmanager
def serving(command):
    """A server that runs for as long as the block; it must not have ended by itself."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as server:
        try:
            yield server
            expect(server.poll() is None, f"the server ended with status {server.poll()}")
        finally:
            server.kill()


def connected(address, family=socket.AF_INET):
    """A stream socket connected to the address, as soon as somebody listens there."""
    deadline = time.monotonic() + PATIENCE
    while True:
        client = socket.socket(family, socket.SOCK_STREAM)
        client.settimeout(PATIENCE)
        try:
            client.connect(address)
            return client
        except OSError:
            client.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def receive(client, size=None):
    """This many bytes, or all until the end."""
    data = b""
    while size is None or len(data) < size:
        part = client.recv(65536 if size is None else size - len(data))
        if not part:
            break
        data += part
    return data


def output_of(command, text=""):
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, timeout=PATIENCE,
                          check=False)
    expect(done.returncode == 0, f"status {done.returncode}; it printed: {done.stdout}")
    return done.stdout


def prints(pattern, *args, text=""):
    """Ends by itself and prints what the pattern matches."""

    def run(program, work):
        output = output_of([program, *[arg.format(work=work) for arg in args]], text)
        expect(re.search(pattern, output, re.DOTALL), f"it printed: {output}")

    return run


def echoes_tcp(program, _):
    port = free_port()
    with serving([program, str(port)]):
        for message in (b"weft", b"a" * 1000):
            with connected(("127.0.0.1", port)) as client:
                client.sendall(message)
                expect(receive(client, len(message)) == message, "the echo differs")


def echoes_udp(program, _):
    port = free_port(socket.SOCK_DGRAM)
    with serving([program, str(port)]):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(0.1)
            client.connect(("127.0.0.1", port))
            deadline = time.monotonic() + PATIENCE
            while True:
                with contextlib.suppress(OSError):
                    client.send(b"datagram")
                    expect(client.recv(100) == b"datagram", "the echo differs")
                    return
                expect(time.monotonic() < deadline, "no echo")


def echoes_local(program, work):
    path = str(work / "socket")
    with serving([program, path]):
        with connected(path, socket.AF_UNIX) as client:
            client.sendall(b"weft")
            expect(receive(client, 4) == b"weft", "the echo differs")


def passes_a_descriptor(program, work):
    path, file = str(work / "socket"), work / "file"
    with serving([program, path]), connected(path, socket.AF_UNIX) as client:
        client.sendall(str(file).encode())
        _, descriptors, _, _ = socket.recv_fds(client, 1024, 1)
        expect(len(descriptors) == 1, "no descriptor came")
        with open(descriptors[0], "w", encoding="ascii") as passed:
            passed.write("weft")
    expect(file.read_text().endswith("weft"), "the descriptor is not the file's")


def sends_reference_counted(program, _):
    port = free_port()
    with serving([program, str(port)]), connected(("127.0.0.1", port)) as client:
        expect(len(receive(client)) > 10, "nothing was sent")


def sends_to_who_connects(program, work, something=True):
    """Waits for a connection at the port in its source, sends lines, and ends; several times."""
    port = int((work / "port").read_text())
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + PATIENCE
        received = b""
        while process.poll() is None:
            expect(time.monotonic() < deadline, "it does not end")
            with contextlib.suppress(OSError):
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                    received += receive(client)
            time.sleep(0.01)
        output = process.stdout.read()
    expect(process.returncode == 0, f"status {process.returncode}")
    expect(bool(received) == something, f"received {received!r}")
    expect(("Error" in output) != something, f"it printed: {output}")


def refuses_to_send_nothing(program, work):
    sends_to_who_connects(program, work, something=False)


@contextlib.contextmanager
def echo_server(kind=socket.SOCK_STREAM, family=socket.AF_INET, address=("127.0.0.1", 0)):
    """An echo server of ours, for one client."""
    with socket.socket(family, kind) as listener:
        listener.bind(address)
        listener.settimeout(PATIENCE)
        if kind == socket.SOCK_STREAM:
            listener.listen()

        def serve():
            with contextlib.suppress(OSError):
                if kind == socket.SOCK_DGRAM:
                    data, peer = listener.recvfrom(65536)
                    listener.sendto(data, peer)
                    return
                client, _ = listener.accept()
                with client:
                    while data := client.recv(65536):
                        client.sendall(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()
        thread.join(PATIENCE)


def client_of_echo(kind):
    def run(program, _):
        with echo_server(kind) as (host, port):
            output = output_of([program, host, str(port)], "a message\n")
        expect("Reply is: a message" in output, f"it printed: {output}")

    return run


def client_of_local_echo(program, work):
    path = str(work / "socket")
    with echo_server(family=socket.AF_UNIX, address=path):
        output = output_of([program, path], "a message\n")
    expect("a message" in output, f"it printed: {output}")


def times_a_line(program, _):
    with echo_server() as (host, port):
        output = output_of([program, host, str(port), "line"])
    expect("Round trip time" in output, f"it printed: {output}")


def relays_chat(program, _):
    port = free_port()
    message = b"   5hello"
    with serving([program, str(port)]):
        with connected(("127.0.0.1", port)) as one, connected(("127.0.0.1", port)) as other:
            one.sendall(message)
            expect(receive(one, len(message)) == message, "the writer did not hear it")
            expect(receive(other, len(message)) == message, "the other did not hear it")


def serves_http(program, work):
    (work / "page.html").write_text("<p>weft</p>")
    port = free_port()
    with serving([program, "127.0.0.1", str(port), str(work)]):
        with connected(("127.0.0.1", port)) as client:
            client.sendall(b"GET /page.html HTTP/1.0\r\n\r\n")
            reply = receive(client)
        expect(reply.startswith(b"HTTP/1.0 200 OK") and reply.endswith(b"<p>weft</p>"), f"{reply}")
        with connected(("127.0.0.1", port)) as client:
            client.sendall(b"GET /none.html HTTP/1.0\r\n\r\n")
            expect(b"404" in receive(client), "a page that is not there is served")


def copies_a_file(program, work):
    content = bytes(range(256)) * 1000
    (work / "from").write_bytes(content)
    output_of([program, str(work / "from"), str(work / "to")])
    expect((work / "to").read_bytes() == content, "the copy differs")


RUNS = [
    (r"cpp../echo/(async|blocking)_tcp_echo_server", echoes_tcp),
    (r"cpp../echo/(async|blocking)_udp_echo_server", echoes_udp),
    (r"cpp../echo/blocking_tcp_echo_client", client_of_echo(socket.SOCK_STREAM)),
    (r"cpp../echo/blocking_udp_echo_client", client_of_echo(socket.SOCK_DGRAM)),
    (r"cpp../(allocation/server|handler_tracking/async_tcp_echo_server)", echoes_tcp),
    (r"cpp../fork/process_per_connection", echoes_tcp),
    (r"cpp../nonblocking/third_party_lib", echoes_tcp),
    (r"cpp../buffers/reference_counted", sends_reference_counted),
    (r"cpp../chat/chat_server", relays_chat),
    (r"cpp../http/server/main", serves_http),
    (r"cpp../files/.*_file_copy", copies_a_file),
    (r"cpp../local/stream_server", echoes_local),
    (r"cpp../local/fd_passing_stream_server", passes_a_descriptor),
    (r"cpp../local/(stream|iostream)_client", client_of_local_echo),
    (r"cpp../timeouts/blocking_(token_)?tcp_client", times_a_line),
    (r"cpp../operations/composed_4", refuses_to_send_nothing),
    (r"cpp../operations/composed_\d", sends_to_who_connects),
    (r"cpp../operations/.*callback_wrapper", prints("Hello ann.*Hello bob", text="ann\nbob\n")),
    (r"cpp../executors/actor", prints(r"^\Z")),
    (r"cpp../executors/async_1", prints("Line: a line", text="a line\n")),
    (r"cpp../executors/async_2", prints("Lines:\na\nb\n", text="a\nb\n\n")),
    (r"cpp../executors/bank_account_\d", prints("^balance = 10\n\\Z")),
    (r"cpp../executors/fork_join", prints("^sort took", "20000")),
    (r"cpp../executors/pipeline", prints("0: LONGER LINE", text="short\nlonger line\n")),
    (r"cpp../executors/priority_scheduler", prints(r"^(3+\n)+(2+\n)+(1+\n)+(poly.*\n)?\Z")),
    (r"cpp../deferred/deferred_1", prints("^timer wait finished: Success\n")),
    (r"cpp../deferred/deferred_[23]", prints("first.*: Success\nsecond.*: Success\n")),
    (r"cpp../deferred/deferred_[4-7]", prints("second.*: Success\nresult is \\d+\n")),
    (r"cpp../tutorial/timer[12]/timer", prints("^Hello, world!\n\\Z")),
    (r"cpp../tutorial/timer[345]/timer", prints("Final count is")),
    (r"cpp../timers/time_t_timer", prints("timeout\nFinished asynchronous wait")),
]


def find(name):
    for pattern, run in RUNS:
        if re.fullmatch(pattern, name):
            return run
    return None
