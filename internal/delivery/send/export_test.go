package send

import "surehook.example/surehook/internal/hook"

// Classify is classify.
func Classify(err, ended error, handshake bool) (hook.Class, string) {
	return classify(failure{err: err, ended: ended, handshake: handshake})
}
