// Package port reserves ports of loopback for tests that name a port to another program.
package port

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// Reserve returns a port that is the test's until its end: connections are refused until a program
// of the test listens there, and no other program gets the port by asking for any free one. A
// socket that is bound and does not listen holds it, and on Linux a program that names the port
// binds it beside. Elsewhere it cannot, so there the port is only free when Reserve returns.
func Reserve(tb testing.TB) string {
	tb.Helper()

	holder, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatal(os.NewSyscallError("socket", err))
	}
	free := func() { _ = syscall.Close(holder) }
	syscall.CloseOnExec(holder)
	// Without this option, nobody else binds the port either.
	if err := syscall.SetsockoptInt(holder, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		tb.Fatal(os.NewSyscallError("setsockopt", err))
	}
	if err := syscall.Bind(holder, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(os.NewSyscallError("bind", err))
	}
	address, err := syscall.Getsockname(holder)
	if err != nil {
		tb.Fatal(os.NewSyscallError("getsockname", err))
	}
	if runtime.GOOS == "linux" {
		tb.Cleanup(free)
	} else {
		free()
	}
	loopback, ok := address.(*syscall.SockaddrInet4)
	if !ok {
		tb.Fatalf("the port is of %T", address)
	}
	return strconv.Itoa(loopback.Port)
}
