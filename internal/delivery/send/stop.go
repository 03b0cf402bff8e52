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

// stopHard closes the connection below TLS when grace has passed after the end of ctx, unless
// release is called before.
//
// The transport itself closes the connection at the end of ctx. But closing a TLS connection
// first writes an alert, and a receiver that reads nothing blocks this write for 5 seconds. A
// receiver can also block the TLS connection's own answers to key updates, and then closing has
// no time limit. Closing the connection below TLS ends all reads and writes.
//
// The caller must call release. At that time the connection may already serve another attempt,
// which grace protects from the hard stop.
func stopHard(ctx context.Context, conn net.Conn) (release func()) {
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return func() {} // closing a plain connection does not block
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
