package send

import "surehook/internal/hook"

// ErrDeadline is the cause of an attempt's end by the endpoint's timeout.
var ErrDeadline = errDeadline

// Classify is classify.
func Classify(err, ended error, handshake bool) (hook.Class, string) {
	return classify(failure{err: err, ended: ended, handshake: handshake})
}
