package dev_test

import (
	"fmt"
	"net/http"
	"testing"
)

// The process has senders for its two regions and for fixed addresses: a request from
// each place has the body of a request from here.
func TestDev_places(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	url, requests := sink(t)
	for name, place := range map[string]string{"here": ``, "region": `,"region":"ap-southeast-2"`, "fixed": `,"egress":"fixed"`} {
		w.subscribe(fmt.Sprintf(`{"url":"%s/%s"%s}`, url, name, place))
	}
	w.post()
	bodies := map[string]string{}
	for range 3 {
		r := <-requests
		bodies[r.path] = string(r.body)
	}
	if len(bodies) != 3 || bodies["/region"] != bodies["/here"] || bodies["/fixed"] != bodies["/here"] {
		t.Errorf("the receivers got %v; want the same body from each place", bodies)
	}
	var choices struct {
		Regions   []string `json:"regions"`
		Addresses []string `json:"addresses"`
	}
	w.call(http.MethodGet, "/v1/tenants/acme/egress", "", http.StatusOK, &choices)
	if len(choices.Regions) != 2 || len(choices.Addresses) != 1 {
		t.Errorf("egress = %+v; want two regions and one address", choices)
	}
}
