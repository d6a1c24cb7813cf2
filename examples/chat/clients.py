#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Runs a chat server and its clients, one step after another, and prints what each is told.

    clients.py PROGRAM

What is printed is the same whichever program it is; chat.expected has it.
"""
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys

TIMEOUT = 20  # seconds; nothing waits that long unless it has failed


class Client:
    def __init__(self, name, port, receive_buffer=None):
        self.name = name
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(("127.0.0.1", port))
        self.lines = self.socket.makefile("r", newline="\n")

    def say(self, *lines):
        self.socket.sendall("".join(line + "\n" for line in lines).encode())

    def read(self):
        return self.lines.readline().rstrip("\n") or "(the end)"

    def hears(self, count=1):
        for _ in range(count):
            print(f"{self.name} < {self.read()}")

    def reset(self):
        self.lines.close()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def leave(self):
        """Says that nothing follows, hears what is left, and goes."""
        self.socket.shutdown(socket.SHUT_WR)
        self.hears()


@contextlib.contextmanager
def server(program, *arguments):
    with subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, int(process.stdout.readline().split()[1])
            print("server:", process.communicate(timeout=TIMEOUT)[0].strip())
            print("server: ended with status", process.returncode)
        finally:
            process.kill()


def join(name, port, others, **options):
    client = Client(name, port, **options)
    client.hears()
    client.say(name)
    client.hears()
    for other in others:
        other.hears()
    return client


def flood(speaker, listener, victim):
    """Speaks until a member who reads nothing is thrown out. One listener keeps up."""
    notice = f"* {victim} has left: too slow"
    for spoken in range(100_000):
        line = f"{spoken} " + "x" * 900
        speaker.say(line)
        heard = listener.read()
        if heard == notice:
            listener.read()
            break
        assert heard == f"{speaker.name}: {line}", heard
    else:
        print(f"{victim} is still there")
    print(f"{listener.name} < ... {notice}")
    speaker.hears()


def conversation(program):
    with server(program) as (process, port):
        ann = join("ann", port, [])
        bob = Client("bob", port)
        bob.hears()
        bob.say("ann")
        bob.hears()
        bob.say("no name")
        bob.hears()
        bob.say("bob")
        bob.hears()
        ann.hears()
        cyd = join("cyd", port, [ann, bob])

        print("- what one says all others hear, in order")
        bob.say("one", "two", "three")
        ann.hears(3)
        cyd.hears(3)
        ann.say("four\r")
        bob.hears()
        cyd.hears()

        print("- somebody leaves, vanishes, or does not keep to the rules")
        cyd.leave()
        ann.hears()
        bob.hears()
        join("dan", port, [ann, bob]).reset()
        ann.hears()
        bob.hears()
        eve = join("eve", port, [ann, bob])
        eve.say("x" * 2000)
        eve.hears()
        ann.hears()
        bob.hears()

        print("- somebody reads nothing")
        sloth = join("sloth", port, [ann, bob], receive_buffer=2048)
        flood(bob, ann, "sloth")
        sloth.reset()

        print("- the server is interrupted")
        fay = Client("fay", port)
        fay.hears()
        process.send_signal(signal.SIGINT)
        for client in (ann, bob, fay):
            client.hears(2)


def silence(program):
    print("- nobody says anything")
    with server(program, "0", "50") as (process, port):
        gus = Client("gus", port)
        gus.hears(3)
        process.send_signal(signal.SIGINT)


def crowd(program):
    """Many come, and the server is interrupted, while it can do nothing: it finds all that together."""
    print("- the server is interrupted while many come")
    with server(program) as (process, port):
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        clients = [Client("any", port) for _ in range(100)]
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGCONT)
    for client in clients:
        client.reset()


if __name__ == "__main__":
    conversation(sys.argv[1])
    silence(sys.argv[1])
    crowd(sys.argv[1])
