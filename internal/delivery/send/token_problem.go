package send

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/oauth2"
)

// problemOf returns why there is no token, for the endpoint's owner, with the error that the token
// endpoint names.
func problemOf(f failure, g Grant) string {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](f.err); ok {
		text := "the token endpoint answered " + strings.TrimSpace(strconv.Itoa(refused.Response.StatusCode)+" "+http.StatusText(refused.Response.StatusCode))
		if code := g.quote(refused.ErrorCode); code != "" {
			text += ", " + code
		}
		if description := g.quote(refused.ErrorDescription); description != "" {
			text += ": " + description
		}
		return strings.TrimSuffix(text, ".") + "."
	}
	if is[*url.Error](f.err) || f.ended != nil {
		_, text := classify(f)
		text, _, _ = strings.Cut(text, ":") // the mend is about the endpoint's own settings
		text = strings.TrimSuffix(text, ".") + "."
		return strings.Replace("t"+text[1:], "the endpoint", "the token endpoint", 1)
	}
	return "the token endpoint answered without a token in JSON."
}

// quote returns the start of a text of the token endpoint, which may be anything; empty if it
// repeats the client's secret.
func (g Grant) quote(text string) string {
	escaped := url.QueryEscape(g.Secret)
	basic := base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(g.ClientID) + ":" + escaped))
	for _, secret := range []string{g.Secret, escaped, basic} {
		if strings.Contains(text, secret) {
			return ""
		}
	}
	return strings.TrimSpace(visible(text[:min(len(text), maxHeader)]))
}
