package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"surehook.example/surehook/client"
	"surehook.example/surehook/client/openapi"
	"surehook.example/surehook/internal/names"
)

// api returns a client of the configured deployment.
func (p *program) api(ctx context.Context, s settings) (*client.Client, error) {
	address, err := s.address()
	if s.URL == "" && s.key == "" && s.KeyFile == "" && s.KeyCommand == nil {
		return nil, usagef("the address of the API and its key are missing: say --api-url or %s, and --key-file or %s, or `surehook login`; `surehook dev` prints all", envURL, envKey)
	}
	if err != nil {
		return nil, err
	}
	key, err := s.apiKey(ctx)
	if err != nil {
		return nil, err
	}
	o := client.Options{HTTP: p.HTTP, UserAgent: names.UserAgent() + " surehook-cli"}
	if err := p.checkOrigin(ctx, address.String(), o); err != nil {
		return nil, err
	}
	c, err := client.New(address.String(), key, o)
	if err != nil {
		return nil, usagef("%w", err)
	}
	return c, nil
}

// ofTenant returns the settings of a command about one tenant, and the API.
func (p *program) ofTenant(ctx context.Context) (settings, *client.Client, error) {
	s, err := p.settings()
	if err != nil {
		return s, nil, err
	}
	if _, err := s.requireTenant(); err != nil {
		return s, nil, err
	}
	api, err := p.api(ctx, s)
	return s, api, err
}

// path fills the tenant into a path of the contract.
func (s settings) path(path string) string {
	return client.Path(path, map[string]string{"tenant": s.Tenant})
}

// query returns the parameters, pairs of name and value, that have a value.
func query(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			values.Set(pairs[i], pairs[i+1])
		}
	}
	return values
}

// maxPage is the size of the API's largest page.
const maxPage = 100

// page is a page of a list, with the rows as the API sends them.
type page struct {
	Data       []json.RawMessage `json:"data"`
	NextCursor string            `json:"next_cursor"` // empty at the end
}

// pages reads rows up to limit, or all rows if it is 0, with at most size rows in each call.
func pages(ctx context.Context, c *client.Client, call client.Call, limit, size int) (page, error) {
	all := page{Data: []json.RawMessage{}}
	for {
		next := size
		if limit > 0 {
			next = min(size, limit-len(all.Data))
		}
		call.Query.Set("limit", strconv.Itoa(next))
		answer, err := c.Call(ctx, call)
		if err != nil {
			return all, err
		}
		var got page
		if err := decode(answer, &got); err != nil {
			return all, err
		}
		all.Data = append(all.Data, got.Data...)
		all.NextCursor = got.NextCursor
		if got.NextCursor == "" || (limit > 0 && len(all.Data) >= limit) {
			return all, nil
		}
		call.Query.Set("cursor", got.NextCursor)
	}
}

// advice says what to do about a refusal; empty if there is no advice.
func advice(p *client.Problem) string {
	switch {
	case p.Status == http.StatusUnauthorized, p.Status == http.StatusForbidden && p.Code == "": // API Gateway refuses an unknown key
		return "check the key: --key-file, " + envKey + ", or `surehook login`; a key begins with shk_ and has at least 47 characters"
	case p.Status == http.StatusForbidden:
		return "use a key with the scope and the tenant of this command: surehook keys list"
	case p.Code == openapi.ProblemCodePreconditionFailed:
		return "the version changed: read again, and change with the new version"
	case p.Status == http.StatusNotFound:
		return "check the tenant and the id"
	case p.Code == openapi.ProblemCodeInProgress:
		return "try again when the delivery has ended, or replace it with --force"
	case p.Temporary():
		return "try again later"
	}
	return ""
}

// describe returns the text of an error for a person: each wrong field on a line of its own, and
// then the advice.
func describe(err error) string {
	text := err.Error()
	if p, ok := errors.AsType[*client.Problem](err); ok {
		for _, f := range p.Fields {
			text = strings.Replace(text, "; "+f.Field+": ", "\n  "+f.Field+": ", 1)
		}
		if remedy := advice(p); remedy != "" {
			text += "\n" + remedy
		}
	} else if _, ok := errors.AsType[*client.UnreachableError](err); ok {
		text += fmt.Sprintf("\ncheck --api-url or %s, and that Surehook runs there", envURL)
	}
	return printable(plainly(err, text))
}

// sleep waits, or returns an error at the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return errInterrupted
	}
}
