package endpoint

import (
	"slices"
	"strings"

	"surehook.example/surehook/internal/hook"
)

// checkOrigin returns the secrets of before that after would send to another origin. Header
// values, the authentication and the client certificate are for one origin. A caller who may
// change an endpoint may not read them, so they must not be sent to the caller's own server
// either. So when the origin changes, each of them must be given again, or removed. Between the
// internet and the private network, one URL can lead to two receivers: so can their token endpoints.
//
// Signing secrets do not count, because a request has only signatures. The secret of an OAuth
// client goes to the token endpoint, see applyAuth, but the access token goes to the URL.
func checkOrigin(before, after hook.Endpoint) []hook.FieldError {
	reason := "the new url has another origin"
	switch {
	case before.Private() != after.Private():
		reason = "the new egress is another network"
	case hook.Origin(before.URL) == hook.Origin(after.URL):
		return nil
	}
	var errs hook.Fields
	again := func(field string) { errs.Add(field, "must be given again, or removed: %s", reason) }
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
