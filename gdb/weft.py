# SPDX-License-Identifier: BSL-1.0
"""Shows gdb the coroutines and fibers of a program that uses weft, running or in a core file.

    (gdb) source weft.py
    (gdb) weft tasks               each coroutine and fiber: what it waits for, who spawned it
    (gdb) weft fiber 7 backtrace   a command, with the calls that fiber 7 waits in as callers of the
                                   present frame
    (gdb) weft fiber 7             the same for all commands from now on, until the thread moves,
    (gdb) weft fiber off           or this
    (gdb) weft backtrace           the calls of every fiber that waits

The program needs debugging information of its own (-g), libweft none. Nothing is called in it, and
nothing changed.
"""
import gdb
import gdb.unwinder

REGISTERS = {  # program counter, stack pointer, frame pointer
    "i386:x86-64": ("rip", "rsp", "rbp"),
    "aarch64": ("pc", "sp", "x29"),
}
LOW_BITS = (1 << 40) - 1


def atomic_pointer(value):
    return value["_M_b"]["_M_p"]


def place(location):
    """A std::source_location."""
    what = location["_M_impl"]
    if not what:
        return "an unknown place"
    what = what.dereference()
    function, file = what["_M_function_name"].string(), what["_M_file_name"].string()
    return f"{function}, {file}:{int(what['_M_line'])}"


class Task:
    def __init__(self, slot, record):
        number = int(slot["id"])
        thread = number >> 40
        self.name = (f"{thread}." if thread else "") + str(number & LOW_BITS)
        self.style = slot["kind"]["name"].string()
        self.spawned = place(slot["spawned"])
        self.record = record
        waits_for = atomic_pointer(record["waits_for_"])
        self.waits_for = waits_for.string() if waits_for else None

    def is_resting_fiber(self):
        return self.style == "fiber" and self.waits_for is not None

    def fiber(self):
        record = self.record.cast(gdb.lookup_type("weft::detail::task_record").pointer())
        return record.cast(gdb.lookup_type("weft::detail::fiber_base").pointer())

    def __str__(self):
        state = f"waits for {self.waits_for}" if self.waits_for else "runs"
        return f"{self.style} {self.name} {state}\n  spawned by {self.spawned}"


def tasks():
    # A chunk: the next one, the number of slots, the slots. libweft itself may have no types.
    slot = gdb.lookup_type("weft::detail::task_slot")
    word = gdb.lookup_type("unsigned long").pointer()
    chunk = gdb.parse_and_eval("&'weft::detail::task_slots::chunks'").cast(word).dereference()
    while chunk:
        chunk = chunk.cast(word)
        slots = (chunk + 2).cast(slot.pointer())
        for index in range(int(chunk[1])):
            record = atomic_pointer(slots[index]["record"])
            if record:
                yield Task(slots[index], record)
        chunk = chunk[0]


def find(name):
    for task in tasks():
        if task.name == name:
            if not task.is_resting_fiber():
                raise gdb.GdbError(f"{task.style} {name} is no fiber that waits")
            return task
    raise gdb.GdbError(f"there is no task {name}; 'weft tasks' lists them")


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


class FiberUnwinder(gdb.unwinder.Unwinder):
    """Makes the innermost frame of a fiber the caller of the frame in which the thread stands."""

    def __init__(self):
        super().__init__("weft fiber")
        self.point = None

    def show(self, fiber):
        frame = gdb.newest_frame()
        names = REGISTERS.get(frame.architecture().name())
        if not names:
            raise gdb.GdbError(f"weft has no fibers on {frame.architecture().name()}")
        self.names = names
        self.at = [int(frame.read_register(name)) for name in names[:2]]
        self.point = fiber["point_"]
        gdb.invalidate_cached_frames()

    def hide(self):
        self.point = None
        gdb.invalidate_cached_frames()

    def execute(self, fiber, command, from_tty):
        """Executes the command while the fiber is shown."""
        self.show(fiber)
        try:
            gdb.execute(command, from_tty)
        finally:
            self.hide()

    def __call__(self, pending):
        if self.point is None:
            return None
        pc, sp, fp = self.names
        if [int(pending.read_register(name)) for name in (pc, sp)] != self.at:
            return None
        point = self.point
        # gdb takes a caller for corrupt that lies below what it calls.
        below = point["stack_pointer"].cast(gdb.lookup_type("unsigned long")) - 16
        unwound = pending.create_unwind_info(FrameId(below, pending.read_register(pc)))
        for name, field in ((pc, "instruction"), (sp, "stack_pointer"), (fp, "frame_pointer")):
            unwound.add_saved_register(name, point[field].cast(pending.read_register(name).type))
        return unwound


unwinder = FiberUnwinder()
gdb.unwinder.register_unwinder(None, unwinder, replace=True)


class Weft(gdb.Command):
    """Coroutines and fibers of weft: weft tasks, weft fiber, weft backtrace."""

    def __init__(self):
        super().__init__("weft", gdb.COMMAND_STACK, prefix=True)


class WeftTasks(gdb.Command):
    """Lists each coroutine and fiber: what it waits for, and who spawned it."""

    def __init__(self):
        super().__init__("weft tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for task in tasks():
            print(task)


class WeftFiber(gdb.Command):
    """Shows the calls that a fiber waits in, as callers of the frame in which the thread stands.

    weft fiber NUMBER [COMMAND]   for COMMAND, or until the thread moves
    weft fiber off                no longer"""

    def __init__(self):
        super().__init__("weft fiber", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        name, _, command = argument.strip().partition(" ")
        if name == "off":
            unwinder.hide()
            return
        fiber = find(name).fiber()
        if command:
            unwinder.execute(fiber, command, from_tty)
        else:
            unwinder.show(fiber)


class WeftBacktrace(gdb.Command):
    """Shows the calls of every fiber that waits."""

    def __init__(self):
        super().__init__("weft backtrace", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        for task in list(tasks()):
            if not task.is_resting_fiber():
                continue
            print(task)
            unwinder.execute(task.fiber(), "backtrace", from_tty)


Weft()
WeftTasks()
WeftFiber()
WeftBacktrace()
