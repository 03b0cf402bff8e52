package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/hook"
)

// tlsItem tells in the endpoint's item what the TLS settings are.
type tlsItem struct {
	ID       string `dynamodbav:"id"`
	CA       bool   `dynamodbav:"ca,omitempty"`
	Client   bool   `dynamodbav:"client,omitempty"`
	Subject  string `dynamodbav:"subject,omitempty"`
	NotAfter int64  `dynamodbav:"not_after,omitempty"`
}

// materialItem is the content of the TLS settings, in the partition of the endpoint.
type materialItem struct {
	key
	Tenant      hook.TenantID `dynamodbav:"tenant"`
	ID          string        `dynamodbav:"id"`
	CA          string        `dynamodbav:"ca,omitempty"`
	Certificate string        `dynamodbav:"certificate,omitempty"`
	Sealed      []byte        `dynamodbav:"sealed,omitempty"`
}

func tlsKey(id hook.EndpointID) key { return key{endpointPartition(id), tlsSort} }

// toTLSItem returns nil without TLS settings.
func toTLSItem(t hook.TLS) *tlsItem {
	if !t.On() {
		return nil
	}
	return &tlsItem{ID: t.ID, CA: t.CA, Client: t.Client, Subject: t.Subject, NotAfter: millis(t.NotAfter)}
}

func fromTLSItem(it *tlsItem) hook.TLS {
	if it == nil {
		return hook.TLS{}
	}
	var notAfter time.Time
	if it.Client {
		notAfter = fromMillis(it.NotAfter)
	}
	return hook.TLS{ID: it.ID, CA: it.CA, Client: it.Client, Subject: it.Subject, NotAfter: notAfter}
}

// writeMaterial returns the writes of the endpoint's material: none without a change.
func (s *Store) writeMaterial(e hook.Endpoint) ([]types.TransactWriteItem, error) {
	m := e.TLS.Material
	if m == nil {
		return nil, nil
	}
	if !e.TLS.On() {
		return s.removeMaterial(e.ID), nil
	}
	put, err := s.put(materialItem{tlsKey(e.ID), e.Tenant, m.ID, m.CA, m.Certificate, m.Sealed}, condition{})
	return []types.TransactWriteItem{{Put: put}}, err
}

func (s *Store) removeMaterial(id hook.EndpointID) []types.TransactWriteItem {
	return []types.TransactWriteItem{{Delete: &types.Delete{TableName: s.table, Key: tlsKey(id).attributes()}}}
}

// TLSMaterial reads one item.
func (s *Store) TLSMaterial(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Material, error) {
	var it materialItem
	if err := s.get(ctx, tlsKey(id), &it, "TLS settings", string(id)); err != nil {
		return hook.Material{}, err
	}
	if it.Tenant != tenant {
		return hook.Material{}, fmt.Errorf("read TLS settings %s: %w", id, hook.NotFound("TLS settings"))
	}
	return hook.Material{ID: it.ID, CA: it.CA, Certificate: it.Certificate, Sealed: it.Sealed}, nil
}
