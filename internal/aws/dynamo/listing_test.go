package dynamo_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

// Between the reads of the rows and of the tenant, a transaction can show in one of them alone.
func TestListing_torn(t *testing.T) {
	t.Parallel()

	s := memory.NewStore()
	e := hook.Endpoint{ID: hook.NewEndpointID(), Tenant: "acme", Status: hook.StatusActive}
	if err := s.CreateEndpoint(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Listing(t.Context(), "acme"); err != nil || l.Torn || len(l.Endpoints) != 1 {
		t.Errorf("Listing() = %+v, %v; want the endpoint", l, err)
	}
	row := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "tenant#acme"}, "sk": &types.AttributeValueMemberS{Value: "endpoint#" + string(e.ID)}}
	remove := types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(memory.Schema().Name), Key: row}}
	if _, err := s.Table.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{remove}}); err != nil {
		t.Fatal(err)
	}
	if l, err := s.Listing(t.Context(), "acme"); err != nil || !l.Torn {
		t.Errorf("Listing() without the row = %+v, %v; want a torn list", l, err)
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
