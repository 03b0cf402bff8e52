package port_test

import (
	"net"
	"runtime"
	"testing"

	"surehook.example/surehook/proof/port"
)

func TestReserve(t *testing.T) {
	t.Parallel()

	if runtime.GOOS != "linux" {
		t.Skip("the port is held on Linux only")
	}
	reserved := port.Reserve(t)
	var dialer net.Dialer
	if c, err := dialer.DialContext(t.Context(), "tcp", "127.0.0.1:"+reserved); err == nil {
		_ = c.Close()
		t.Error("a connection was accepted; want it refused")
	}
	var config net.ListenConfig
	for range 1000 {
		l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if _, other, _ := net.SplitHostPort(l.Addr().String()); other == reserved {
			t.Error("another program got the port")
		}
		_ = l.Close()
	}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:"+reserved)
	if err != nil {
		t.Fatalf("the program of the test cannot listen: %v", err)
	}
	_ = l.Close()
}
