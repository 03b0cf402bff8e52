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
// repeats a part of the client's secret, in one of the forms in which it may have come.
func (g Grant) quote(text string) string {
	text = text[:min(len(text), maxHeader)]
	query, base64 := url.QueryEscape, base64.StdEncoding.EncodeToString
	for _, form := range []string{
		g.Secret, query(g.Secret), url.PathEscape(g.Secret),
		base64([]byte(g.Secret)), base64([]byte(g.ClientID + ":" + g.Secret)), base64([]byte(query(g.ClientID) + ":" + query(g.Secret))),
	} {
		if shares(text, form) {
			return ""
		}
	}
	return strings.TrimSpace(visible(text))
}

// mostShown is how many characters of a secret in a row an error may repeat.
const mostShown = 7

// shares reports whether the text has more than mostShown characters of the secret in a row, or all of
// a short one. Letter case does not count.
func shares(text, secret string) bool {
	text, secret = strings.ToLower(text), strings.ToLower(secret)
	part := min(mostShown+1, len(secret))
	for i := range len(secret) - part + 1 {
		if strings.Contains(text, secret[i:i+part]) {
			return true
		}
	}
	return false
}
