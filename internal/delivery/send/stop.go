package send

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// grace is the time between the end of an attempt and the hard stop of its
// connection. The transport usually ends within less than a millisecond.
const grace = 50 * time.Millisecond

// stopHard closes the connection below TLS at grace after the end of ctx, unless
// release is called before.
//
// The transport itself closes the connection at the end of ctx. The close of a TLS
// connection first writes an alert, and a receiver that reads nothing blocks the
// write for 5 seconds. The receiver can also block the TLS connection's own answers
// to key updates, and then the close has no bound. The closed connection ends all
// reads and writes.
//
// A caller must call release. At release the connection may already serve another
// attempt; grace keeps the hard stop away from the other attempt.
func stopHard(ctx context.Context, conn net.Conn) (release func()) {
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return func() {} // nothing delays the close of a plain connection
	}
	conn = secured.NetConn()
	released := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-released:
		case <-timer.C:
			_ = conn.Close()
		}
	})
	return func() {
		unwatch()
		close(released)
	}
}
