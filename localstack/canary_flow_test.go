//go:build e2e

package localstack_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/localstack/receiver"
	"surehook.example/surehook/localstack/stack"
)

// makeKey makes an API key, registers the key as a canary, and returns the key.
func (a *aviary) makeKey() string {
	a.Helper()
	var made struct{ ID, Key string }
	in := map[string]any{"name": "canary", "tenant": a.tenant, "scopes": []string{"events:write", "endpoints:write", "read"}}
	if err := world.api.Call(a.ctx, http.MethodPost, "/v1/keys", in, http.StatusCreated, &made); err != nil {
		a.Fatal(err)
	}
	a.watchKey("an API key", made.Key)
	return made.Key
}

// openLink opens a portal link, tries to open it again, and registers its code and its key as
// canaries.
func (a *aviary) openLink() {
	a.Helper()
	var link struct{ URL string }
	a.call(http.MethodPost, "/portal-links", nil, http.StatusCreated, &link)
	_, fragment, _ := strings.Cut(link.URL, "#")
	values, err := url.ParseQuery(fragment)
	if err != nil || !strings.HasPrefix(values.Get("code"), "shl_") {
		a.Fatalf("url = %q, %v; want a code in the fragment", link.URL, err)
	}
	code := values.Get("code")
	a.watch(canary{place: "the code of a portal link", text: code[len(code)-43:], secret: true})
	var opened struct{ Key string }
	a.call(http.MethodPost, "/portal-session", map[string]any{"code": code}, http.StatusCreated, &opened)
	a.watchKey("the key of a portal link", opened.Key)
	a.refused(bad{method: http.MethodPost, path: "/portal-session", body: `{"code":"` + code + `"}`}, opened.Key)
	a.refused(bad{method: http.MethodPost, path: "/portal-session", body: `{"code":"` + a.plant("a code that is none") + `"}`}, opened.Key)
}

// deliverAndDie takes one delivery through a redirect, a rotation and a retry to success, and
// another one through a retry to its death. Every input and every answer of the receiver contains
// a canary, even answers that are not HTTP.
func (a *aviary) deliverAndDie() (delivered, dead string) {
	a.Helper()
	e := a.canaryEndpoint("good",
		receiver.Raw("HTTP/1.1 2x0 "+a.plant("a broken status line")+"\r\n\r\n"),
		receiver.Raw("HTTP/1.1 503 Unavailable\r\n"+a.plant("a broken header of an answer")+"\r\n\r\n"),
		receiver.Raw("HTTP/1.1 503 Unavailable\r\nX-Note: "+a.plant("a header of an answer")+"\r\nContent-Length: 2\r\n\r\nno"+
			"HTTP/1.1 200 "+a.plant("an unsolicited response")+"\r\n\r\n"),
		receiver.Answer(http.StatusServiceUnavailable, a.plant("the body of a 503")),
		receiver.Redirect(http.StatusTemporaryRedirect, a.path("moved")+"?token="+a.plant("the query of a redirect")))
	world.receiver.Script(a.path("moved"), receiver.Answer(http.StatusOK, a.plant("the body of a 200")))
	delivered = a.one(a.postCanaries())
	a.await(delivered, "delivered")
	a.rotate(e, map[string]any{"overlap": "1h"})
	a.rotate(e, map[string]any{"overlap": "1h", "secret": a.ownSecret("a secret given to a rotation")})
	a.call(http.MethodPatch, "/endpoints/"+e.ID, map[string]any{"description": a.plant("a changed description")}, http.StatusOK, nil)
	a.call(http.MethodDelete, "/endpoints/"+e.ID, nil, http.StatusNoContent, nil)

	a.canaryEndpoint("bad", receiver.Answer(http.StatusInternalServerError, a.plant("the body of a 500")))
	dead = a.one(a.postCanaries())
	a.await(dead, "dead")
	return delivered, dead
}

// canaryEndpoint creates an endpoint with canaries at the receiver.
func (a *aviary) canaryEndpoint(name string, replies ...receiver.Reply) stack.Endpoint {
	a.Helper()
	return a.endpoint(name, map[string]any{
		"url":               world.receiver.URL + a.path(name) + "?token=" + a.plant("the query of a URL") + "&q=a%20%22b",
		"description":       a.plant("a description"),
		"metadata":          map[string]string{"note": a.plant("metadata")},
		"headers":           map[string]string{"Authorization": "Bearer " + a.plantSecret("a header"), "X-Api-Key": a.plantSecret("another header")},
		"secret":            a.ownSecret("a secret given to " + name),
		"signature_schemes": []string{"v1", "v1a"},
		"retry":             schedule("1s", "1s", "1s", "1s"),
	}, replies...)
}

// postCanaries posts an event with canaries.
func (a *aviary) postCanaries() stack.Accepted {
	a.Helper()
	var accepted stack.Accepted
	a.call(http.MethodPost, "/events", map[string]any{
		"event_type":      "order.created",
		"payload":         map[string]any{"card": a.plant("a payload"), a.plant("a name in a payload"): []string{a.plant("deep in a payload")}},
		"idempotency_key": a.plant("an idempotency key"),
	}, http.StatusAccepted, &accepted)
	return accepted
}

// rotate gives the endpoint a new secret, a canary.
func (a *aviary) rotate(e stack.Endpoint, in map[string]any) {
	a.Helper()
	var rotated struct{ Secret string }
	a.call(http.MethodPost, "/endpoints/"+e.ID+"/rotate-secret", in, http.StatusOK, &rotated)
	a.watchSecret("a secret of a rotation", rotated.Secret)
}

// bad is an invalid request.
type bad struct {
	method, path, body string
	header             http.Header
}

// sendBadRequests sends all invalid requests, with canaries in them.
func (a *aviary) sendBadRequests(key string) {
	a.Helper()
	a.call(http.MethodPost, "/events", map[string]any{"event_type": "t", "payload": 1, "idempotency_key": "taken"}, http.StatusAccepted, nil)
	for _, r := range slices.Concat(a.badEvents(), a.badEndpoints(), a.badReads()) {
		a.refused(r, key)
	}
}

func (a *aviary) badEvents() []bad {
	p := a.plant
	post := func(format string, args ...any) bad {
		return bad{method: http.MethodPost, path: "/events", body: fmt.Sprintf(format, args...)}
	}
	return []bad{
		post(`{"event_type":"t","payload":%q,"colour":%q}`, p("a payload beside an unknown field"), p("an unknown field")),
		post(`{"event_type":"a b %s","payload":1}`, p("an event type")),
		post(`{"event_type":[%q],"payload":1}`, p("an event type that is a list")),
		post(`{"event_type":"t","payload":{"a":%q,`, p("JSON that breaks off")),
		post(`{"event_type":"t","payload":{"a":%q,"a":2}}`, p("a name given twice")),
		post(`{"event_type":"t","payload":%q,"idempotency_key":"taken"}`, p("a payload under a key that is taken")),
		post(`{"event_type":"t","payload":1,"idempotency_key":"a b %s"}`, p("an idempotency key that is none")),
		post(`{"event_type":"t","payload":%q}`, p("a payload that is too large")+strings.Repeat("x", 256<<10)),
		post(`%s`, p("no JSON at all")),
		{
			method: http.MethodPost, path: "/events", body: `{"event_type":"t","payload":1,"idempotency_key":"other"}`,
			header: http.Header{"Idempotency-Key": {p("an idempotency key in a header")}},
		},
		{
			method: http.MethodPost, path: "/events", body: `{"event_type":"t","payload":` + fmt.Sprintf("%q", p("a payload of another media type")) + `}`,
			header: http.Header{"Content-Type": {"text/" + p("a media type")}},
		},
	}
}

func (a *aviary) badEndpoints() []bad {
	p := a.plant
	create := func(field string, value any) bad {
		in := map[string]any{"url": world.receiver.URL + a.path("never")}
		in[field] = value
		body, err := json.Marshal(in)
		if err != nil {
			a.Fatal(err)
		}
		return bad{method: http.MethodPost, path: "/endpoints", body: string(body)}
	}
	return []bad{
		create("url", "https://user:"+p("a password in a URL")+"@example.com/"),
		create("url", "https://"+p("a user name in a URL")+"@example.com/"),
		create("url", "https://10.0.0.1/?token="+p("the query of a private URL")),
		create("url", "https://exa mple.com/?token="+p("the query of a broken URL")),
		create("url", "https://example.com:"+p("a port")+"/"),
		create("url", "ftp://example.com/"+p("the path of an FTP URL")),
		create("headers", map[string]string{"X-Api-Key": p("a header with a line break") + "\n"}),
		create("headers", map[string]string{"Host": p("a reserved header")}),
		create("metadata", map[string]string{"note": p("metadata that is too long") + strings.Repeat("x", 512)}),
		create("metadata", map[string]any{"note": []string{p("metadata of a wrong type")}}),
		create("description", p("a description that is too long")+strings.Repeat("x", 1024)),
		create("secret", "whsec_"+p("a secret that is no base64")+"!"),
		create("secret", p("a secret without its prefix")),
		create("event_types", []string{"a b " + p("a subscription")}),
		create("retry", map[string]any{"preset": p("a preset")}),
		create("retry", map[string]any{"schedule": []string{p("a delay")}}),
		create("timeout", p("a timeout")),
		create("signature_schemes", []string{p("a scheme")}),
		create("uid", "a b "+p("a uid")),
	}
}

func (a *aviary) badReads() []bad {
	p := a.plant
	get := func(format string, args ...any) bad {
		return bad{method: http.MethodGet, path: fmt.Sprintf(format, args...)}
	}
	return []bad{
		get("/endpoints?cursor=%s", p("a cursor")),
		get("/endpoints?limit=%s", p("a limit")),
		get("/endpoints?limit=%%zz%s", p("a query that is malformed")),
		get("/endpoints/%s%%20", p("an endpoint that cannot be")),
		get("/endpoints/%s", p("a uid that is not there")),
		get("/events/%s", p("an event that is not there")),
		get("/deliveries/%s", p("a delivery that is not there")),
		get("/nowhere/%s?token=%s", p("a route that is not there"), p("the query of a route that is not there")),
		{method: http.MethodPut, path: "/endpoints?token=" + p("the query of a wrong method"), body: p("the body of a wrong method")},
		{method: http.MethodDelete, path: "/endpoints/ep_0123456789abcdef", header: http.Header{"If-Match": {p("an ETag")}}},
		{method: http.MethodPost, path: "/endpoints/ep_0123456789abcdef/rotate-secret", body: fmt.Sprintf(`{"secret":%q}`, p("a secret that is refused"))},
		{method: http.MethodPost, path: "/endpoints/ep_0123456789abcdef/test", body: fmt.Sprintf(`{"event_type":%q}`, "a b "+p("the type of a test"))},
	}
}

// callWithUnknownKeys calls with invalid keys.
func (a *aviary) callWithUnknownKeys() {
	a.Helper()
	word := a.plant("a key that nobody has")
	for _, authorization := range []string{
		"Bearer shk_" + word + strings.Repeat("x", 43-len(word)),
		"Bearer " + a.plant("a key that is none"),
		"Basic " + a.plant("a password"),
		a.plant("a header that names no scheme"),
	} {
		a.refused(bad{method: http.MethodGet, path: "/endpoints", header: http.Header{"Authorization": {authorization}}}, "")
	}
}

// refused sends the request, expects a 4xx and keeps the answer.
func (a *aviary) refused(r bad, key string) {
	a.Helper()
	req, err := http.NewRequestWithContext(a.ctx, r.method, world.api.Address+"/v1/tenants/"+a.tenant+r.path, strings.NewReader(r.body))
	if err != nil {
		a.Fatal(err)
	}
	req.Host = world.api.Host
	req.Header.Set("Authorization", "Bearer "+key)
	for name, values := range r.header {
		req.Header[name] = values
	}
	resp, err := world.api.HTTP.Do(req)
	if err != nil {
		a.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end
	answer, err := httputil.DumpResponse(resp, true)
	if err != nil {
		a.Fatal(err)
	}
	if resp.StatusCode < 400 || resp.StatusCode > 499 {
		a.Errorf("%s %s %.200s = %s; want a 4xx", r.method, r.path, r.body, answer)
	}
	a.refusals = append(a.refusals, string(answer))
}

// emulatorLine begins the emulator's own log lines.
var emulatorLine = regexp.MustCompile(`^(\[)?\d{4}-\d\d-\d\d[ T][^ ]+ `)

// logs returns all log lines of the functions since the deployment. It first
// waits until the logs mention the two deliveries.
func (a *aviary) logs(deliveries ...string) []string {
	a.Helper()
	path := filepath.Join(a.TempDir(), "functions.log")
	var lines []string
	a.until("the functions' logs mention the deliveries", func() bool {
		if err := world.stack.SaveFunctionLogs(a.ctx, path); err != nil {
			a.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			a.Fatal(err)
		}
		lines = strings.Split(string(text), "\n")
		return !slices.ContainsFunc(deliveries, func(id string) bool { return !strings.Contains(string(text), id) })
	})
	own, err := os.ReadFile(world.emulatorLog)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the log of a container is not on this machine
		a.Fatal(err)
	}
	for line := range strings.Lines(string(own)) {
		if !emulatorLine.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// table returns every item of the table as text, with binary values unchanged.
func (a *aviary) table() []string {
	a.Helper()
	var items []string
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(world.stack.AWS), &dynamodb.ScanInput{TableName: &world.stack.TableName})
	for pages.HasMorePages() {
		page, err := pages.NextPage(a.ctx)
		if err != nil {
			a.Fatal(err)
		}
		for _, item := range page.Items {
			items = append(items, attribute(&types.AttributeValueMemberM{Value: item}))
		}
	}
	return items
}

func attribute(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberM:
		var b strings.Builder
		for name, value := range v.Value {
			b.WriteString(name + "=" + attribute(value) + "\n")
		}
		return b.String()
	case *types.AttributeValueMemberL:
		var b strings.Builder
		for _, value := range v.Value {
			b.WriteString(attribute(value) + "\n")
		}
		return b.String()
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberB:
		return string(v.Value)
	}
	return fmt.Sprintf("%+v", v) // numbers, booleans and sets
}
