package dev_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/dev"
	"surehook.example/surehook/localstack/webhook"
)

// A receiver that verifies confirms the endpoints with its secret, from any place, and no
// others. The request and the answer are those of the document.
func TestDev_challenges(t *testing.T) {
	t.Parallel()

	const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	w := newWorldWith(t, dev.Options{Ownership: names.OwnershipChallenge})
	schema := received(contractDocument(t), "challenge")
	signed, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body any
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("body = %s: %v", raw, err)
		}
		if err := schema.VisitJSON(body); err != nil {
			t.Errorf("the body %s: %v", raw, err)
		}
		if r.URL.Path != "/open" && signed.Verify(raw, r.Header) != nil {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = rw.Write(webhook.Challenge(r.Header, raw))
	}))
	t.Cleanup(receiver.Close)

	const endpoints = "/v1/tenants/acme/endpoints"
	var refused struct {
		Code   string `json:"code"`
		Errors []struct{ Field, Message string }
	}
	wantRefusal := func(status string) {
		t.Helper()
		if refused.Code != "url_not_verified" || len(refused.Errors) != 1 || refused.Errors[0].Field != "url" || !strings.Contains(refused.Errors[0].Message, "answered "+status) {
			t.Errorf("the refusal = %+v; want url_not_verified of the url, with the status %s", refused, status)
		}
	}
	for _, share := range []string{``, `,"region":"ap-southeast-2"`, `,"egress":"fixed"`} {
		w.subscribe(fmt.Sprintf(`{"url":"%s/strict","secret":"%s"%s}`, receiver.URL, secret, share))
	}
	w.call(http.MethodPost, endpoints, fmt.Sprintf(`{"url":"%s/strict"}`, receiver.URL), http.StatusUnprocessableEntity, &refused)
	wantRefusal("401")

	var open struct{ ID string }
	w.call(http.MethodPost, endpoints, fmt.Sprintf(`{"url":"%s/open"}`, receiver.URL), http.StatusCreated, &open)
	w.call(http.MethodPatch, endpoints+"/"+open.ID, fmt.Sprintf(`{"url":"%s/strict"}`, receiver.URL), http.StatusUnprocessableEntity, &refused)
	wantRefusal("401") // a change has no signature
	w.call(http.MethodPatch, endpoints+"/"+open.ID, `{"description":"same URL"}`, http.StatusOK, nil)
}
