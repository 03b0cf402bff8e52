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

// nameTimeout limits the request for names, which no command strictly needs.
const nameTimeout = 2 * time.Second

// namer returns the names of the endpoints that appear in the rows of a table, by id.
type namer func(rows []json.RawMessage) map[string]string

// endpointNames returns a namer of the tenant's endpoints. It makes one request if a row has an
// endpoint. Endpoints beyond the first page and deleted ones have no name, nor has any after a
// failure.
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

// namedEndpoint has what people recognise an endpoint by.
type namedEndpoint struct {
	ID  string `json:"id"`
	UID string `json:"uid"`
	URL string `json:"url"`
}

// name returns the uid, which commands accept like the id, or else the id with the host of the
// URL.
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
