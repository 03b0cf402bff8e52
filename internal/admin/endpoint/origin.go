package endpoint

import (
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// checkOrigin returns the secrets of before that after would bring to another origin.
// Header values, the authentication and the client certificate are for one origin: who
// may change an endpoint may not read them, and must not have them sent to a server of
// their own either. So a change of the origin needs each of them again, or removes it.
//
// Signing secrets are not among them: a request has signatures only. The secret of an
// OAuth client goes to the token endpoint, see applyAuth, but the access token goes to
// the URL.
func checkOrigin(before, after hook.Endpoint) []hook.FieldError {
	if hook.Origin(before.URL) == hook.Origin(after.URL) {
		return nil
	}
	var errs []hook.FieldError
	again := func(field string) {
		errs = append(errs, hook.FieldError{Field: field, Message: "must be given again, or removed: the new url has another origin"})
	}
	for name := range after.SealedHeaders { // given values are in Headers
		again("headers." + name)
	}
	if len(after.Auth.Sealed) > 0 {
		again(hook.AuthField(after.Auth.Type))
	}
	if after.TLS.Client && (after.TLS.Material == nil || after.TLS.Material.Key == "") {
		again("tls.key")
	}
	slices.SortFunc(errs, func(a, b hook.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return errs
}
