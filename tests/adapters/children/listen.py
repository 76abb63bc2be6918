"""Serves a child on a Unix socket. Arguments: path of the socket, command of the child.

Exits once the socket listens. A background process starts the command for each connection, with the connection as its
standard input and output. It ends, with all commands, when the socket's file is removed, or after two minutes."""
import os
import signal
import socket
import sys
import time


def main():
    path, *command = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(4)
    if os.fork() != 0:
        return
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    listener.settimeout(0.2)
    end = time.monotonic() + 120
    while os.path.exists(path) and time.monotonic() < end:
        try:
            connection, _ = listener.accept()
        except socket.timeout:
            continue
        if os.fork() == 0:
            connection.setblocking(True)
            os.dup2(connection.fileno(), 0)
            os.dup2(connection.fileno(), 1)
            os.execvp(command[0], command)
        connection.close()
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            pass
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)


if __name__ == "__main__":
    main()
