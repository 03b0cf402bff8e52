package emulator

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

// choosePort returns the preferred port if free, otherwise a free port from the
// system.
func choosePort(ctx context.Context, preferred int) (int, error) {
	if preferred != 0 {
		if port, err := tryPort(ctx, preferred); err == nil {
			return port, nil
		}
	}
	return tryPort(ctx, 0)
}

func tryPort(ctx context.Context, port int) (int, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close() //nolint:errcheck // the listener only found the port
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("find a free port: %s is not a TCP address", l.Addr())
	}
	return addr.Port, nil
}
