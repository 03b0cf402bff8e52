package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"

	"surehook.example/surehook/client"
)

// nameTimeout bounds the request for names, of which no command has need.
const nameTimeout = 2 * time.Second

// namer returns the names of the endpoints in the rows of a table, by id.
type namer func(rows []json.RawMessage) map[string]string

// endpointNames returns a namer of the tenant's endpoints. Rows with an endpoint cost one
// request. Endpoints beyond its first page, deleted ones, and all after a failure have no name.
func (p *program) endpointNames(ctx context.Context, api *client.Client, tenant string) namer {
	return func(rows []json.RawMessage) map[string]string {
		if tenant == "" || !slices.ContainsFunc(rows, func(r json.RawMessage) bool { return bytes.Contains(r, []byte(`"ep_`)) }) {
			return nil
		}
		names := map[string]string{}
		for _, e := range endpointsOf(ctx, api, tenant) {
			names[e.ID] = e.name()
		}
		return names
	}
}

// namedEndpoint is an endpoint in words of a person.
type namedEndpoint struct {
	ID  string `json:"id"`
	UID string `json:"uid"`
	URL string `json:"url"`
}

// name returns the uid, which commands take like the id, or the id with the host of the URL.
func (e namedEndpoint) name() string {
	if e.UID != "" {
		return printable(e.UID)
	}
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" {
		return printable(e.ID)
	}
	return printable(e.ID + " (" + u.Host + ")")
}

// endpointsOf returns the first page of the tenant's endpoints; none after a failure.
func endpointsOf(ctx context.Context, api *client.Client, tenant string) []namedEndpoint {
	return firstPage[namedEndpoint](ctx, api, client.Path(endpointsPath, map[string]string{"tenant": tenant}), nil)
}

// firstPage returns the first page of a list; nothing after a failure.
func firstPage[T any](ctx context.Context, api *client.Client, path string, query url.Values) []T {
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	all := url.Values{"limit": {strconv.Itoa(maxPage)}}
	for name, values := range query {
		all[name] = values
	}
	answer, err := api.Call(ctx, client.Call{Method: get, Path: path, Query: all})
	if err != nil {
		return nil
	}
	var found struct {
		Data []T `json:"data"`
	}
	if json.Unmarshal(answer, &found) != nil {
		return nil
	}
	return found.Data
}
