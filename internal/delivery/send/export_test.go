package send

import "surehook/internal/hook"

// ErrDeadline is errDeadline.
var ErrDeadline = errDeadline

// Classify is classify.
func Classify(err, ended error, handshake bool) (hook.Class, string) {
	return classify(failure{err: err, ended: ended, handshake: handshake})
}
