package dynamo_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// An older build changes an endpoint and the version of the tenant, and knows neither the rows nor the
// digest. The change shows at once, and a later read has a list that can be kept again.
func TestListing_afterAnOlderBuild(t *testing.T) {
	t.Parallel()

	s := memory.NewStore()
	var all []hook.Endpoint
	for range 3 {
		e := hook.Endpoint{ID: hook.NewEndpointID(), Tenant: "acme", EventTypes: []string{"order.*"}, Status: hook.StatusActive}
		if err := s.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	known, err := s.Listing(t.Context(), "acme")
	if err != nil || known.Torn {
		t.Fatalf("Listing() = %+v, %v; want a whole one", known, err)
	}
	older := func(pk, sk, expression string, values map[string]types.AttributeValue) types.TransactWriteItem {
		key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
		values[":one"] = &types.AttributeValueMemberN{Value: "1"}
		return types.TransactWriteItem{Update: &types.Update{TableName: aws.String(memory.Schema().Name), Key: key, UpdateExpression: &expression, ExpressionAttributeValues: values}}
	}
	user := &types.AttributeValueMemberL{Value: []types.AttributeValue{&types.AttributeValueMemberS{Value: "user.*"}}}
	_, err = s.Table.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		older("endpoint#"+string(all[1].ID), "endpoint", "SET version = version + :one, event_types = :types", map[string]types.AttributeValue{":types": user}),
		older("tenant#acme", "tenant", "SET version = version + :one", map[string]types.AttributeValue{}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	versionOf := func(id hook.EndpointID) int64 {
		i := slices.IndexFunc(known.Endpoints, func(e ingest.Subscriber) bool { return e.ID == id })
		if i < 0 {
			return 0
		}
		return known.Endpoints[i].Version
	}
	if c, complete, err := s.Changes(t.Context(), "acme", known.Mark, versionOf); complete || err != nil {
		t.Errorf("Changes() = %+v, %t, %v; want that a listing is needed", c, complete, err)
	}
	for range 2 { // the first one mends the rows
		l, err := s.Listing(t.Context(), "acme")
		if err != nil || l.Torn || len(l.Endpoints) != 3 || l.Version != known.Version+1 {
			t.Errorf("Listing() = %+v, %v; want a whole one of the next version", l, err)
		}
		for _, e := range l.Endpoints {
			if want := map[bool]string{true: "user.*", false: "order.*"}[e.ID == all[1].ID]; !slices.Equal(e.EventTypes, []string{want}) {
				t.Errorf("endpoint %s has the types %v; want %s", e.ID, e.EventTypes, want)
			}
		}
		c, complete, err := s.Changes(t.Context(), "acme", l.Mark, versionOf)
		if !complete || err != nil || len(c.Changed) > 0 {
			t.Errorf("Changes() since the listing = %+v, %t, %v; want none", c, complete, err)
		}
	}
}

// A process that posts has little memory, so the list that it reads is bounded: by size, as a tenant with
// 500 endpoints always fits.
func TestListing_bounded(t *testing.T) {
	t.Parallel()

	s := memory.NewStore()
	if err := s.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{Endpoints: hook.MaxEndpointsPerTenant}); err != nil {
		t.Fatal(err)
	}
	types := make([]string, hook.MaxEventTypes)
	for n := range types {
		types[n] = fmt.Sprintf("%0128d", n)
	}
	for n := range 640 {
		if n == hook.DefaultEndpoints {
			if l, err := s.Listing(t.Context(), "acme"); err != nil || len(l.Endpoints) != n {
				t.Errorf("Listing() of the %d largest endpoints = %d, %v; want all", n, len(l.Endpoints), err)
			}
		}
		id := hook.NewEndpointID()
		e := hook.Endpoint{ID: id, Tenant: "acme", URL: string(id), EventTypes: types, Filter: make([]byte, 4096), Status: hook.StatusActive}
		if err := s.CreateEndpoint(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if l, err := s.Listing(t.Context(), "acme"); hook.CodeOf(err) != hook.CodeForbidden {
		t.Errorf("Listing() of the 640 largest endpoints = %d, %v; want forbidden", len(l.Endpoints), err)
	}
}
