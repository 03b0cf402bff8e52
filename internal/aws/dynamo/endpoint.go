package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook/internal/hook"
)

// Places of the writes in the transaction that changes an endpoint.
const (
	endpointWrite = iota
	tenantWrite
	uidWrite
)

// tenantItem counts what happens to a tenant's endpoints.
type tenantItem struct {
	key
	Version   int64 `dynamodbav:"version"`   // changes of its endpoints, ever
	Endpoints int64 `dynamodbav:"endpoints"` // there are now
}

// uidItem reserves an alias.
type uidItem struct {
	key
	EndpointID hook.EndpointID `dynamodbav:"id"`
}

// CreateEndpoint stores a new endpoint as version 1. CodeConflict if the tenant
// has its uid already or has hook.MaxEndpointsPerTenant endpoints.
func (s *Store) CreateEndpoint(ctx context.Context, e hook.Endpoint) error {
	op := "create endpoint " + string(e.ID)
	e.Version = 0
	endpoint, err := s.put(toEndpointItem(e), absent())
	if err != nil {
		return translate(err, op)
	}
	tenant := s.countChange(e.Tenant, 1)
	tenant.ConditionExpression = aws.String("attribute_not_exists(endpoints) OR endpoints < :most")
	tenant.ExpressionAttributeValues[":most"] = number(hook.MaxEndpointsPerTenant)
	writes := []types.TransactWriteItem{endpointWrite: {Put: endpoint}, tenantWrite: {Update: tenant}}
	if e.UID != "" {
		uid, err := s.put(uidItem{key: uidKey(e.Tenant, e.UID), EndpointID: e.ID}, absent())
		if err != nil {
			return translate(err, op)
		}
		writes = append(writes, types.TransactWriteItem{Put: uid})
	}

	err = s.transact(ctx, writes...)
	switch {
	case conditionFailed(err, endpointWrite):
		return fmt.Errorf("%s: %w", op, hook.Conflict("the endpoint exists already"))
	case conditionFailed(err, uidWrite):
		return fmt.Errorf("%s: %w", op, hook.Conflict("uid "+e.UID+" is taken"))
	case conditionFailed(err, tenantWrite):
		return fmt.Errorf("%s: %w", op, hook.Conflict(fmt.Sprintf("a tenant has at most %d endpoints", hook.MaxEndpointsPerTenant)))
	}
	return translate(err, op)
}

// UpdateEndpoint writes the endpoint as version e.Version+1 and changes the
// tenant's version; CodeConflict if the stored version is not e.Version or its
// uid not e.UID.
func (s *Store) UpdateEndpoint(ctx context.Context, e hook.Endpoint) error {
	op := "update endpoint " + string(e.ID)
	endpoint, err := s.put(toEndpointItem(e), unchanged(e))
	if err != nil {
		return translate(err, op)
	}
	err = s.transact(ctx,
		types.TransactWriteItem{Put: endpoint},
		types.TransactWriteItem{Update: s.countChange(e.Tenant, 0)},
	)
	return endpointChanged(err, op)
}

// DeleteEndpoint removes the endpoint, frees its uid and changes the tenant's
// version; CodeConflict if the stored version is not e.Version or its uid not e.UID.
func (s *Store) DeleteEndpoint(ctx context.Context, e hook.Endpoint) error {
	op := "delete endpoint " + string(e.ID)
	guard := unchanged(e)
	writes := []types.TransactWriteItem{
		endpointWrite: {Delete: &types.Delete{
			TableName:                 s.table,
			Key:                       endpointKey(e.Tenant, e.ID).attributes(),
			ConditionExpression:       &guard.expression,
			ExpressionAttributeValues: guard.values,
		}},
		tenantWrite: {Update: s.countChange(e.Tenant, -1)},
	}
	if e.UID != "" {
		writes = append(writes, types.TransactWriteItem{
			Delete: &types.Delete{TableName: s.table, Key: uidKey(e.Tenant, e.UID).attributes()},
		})
	}
	return endpointChanged(s.transact(ctx, writes...), op)
}

// unchanged holds while the stored endpoint is the one that e was made from.
// The uid is part of it, so that a reservation always has its endpoint.
func unchanged(e hook.Endpoint) condition {
	c := atVersion(e.Version)
	if e.UID == "" {
		c.expression += " AND attribute_not_exists(uid)"
		return c
	}
	c.expression += " AND uid = :uid"
	c.values[":uid"] = text(e.UID)
	return c
}

// countChange returns the write that every change of an endpoint needs. more is
// how many endpoints the tenant has more than before.
func (s *Store) countChange(tenant hook.TenantID, more int64) *types.Update {
	return &types.Update{
		TableName:                 s.table,
		Key:                       tenantKey(tenant).attributes(),
		UpdateExpression:          aws.String("ADD version :one, endpoints :more"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": number(1), ":more": number(more)},
	}
}

func endpointChanged(err error, op string) error {
	if conditionFailed(err, endpointWrite) {
		return fmt.Errorf("%s: %w", op, hook.Conflict("the endpoint was changed meanwhile"))
	}
	return translate(err, op)
}

// TenantVersion returns a number that changes with every change of the tenant's
// endpoints; 0 for a tenant that never had one.
func (s *Store) TenantVersion(ctx context.Context, tenant hook.TenantID) (int64, error) {
	var it tenantItem
	err := s.get(ctx, tenantKey(tenant), &it, "tenant", string(tenant))
	if err != nil && hook.CodeOf(err) != hook.CodeNotFound {
		return 0, err
	}
	return it.Version, nil
}

// Endpoint returns the endpoint; CodeNotFound if the tenant has none such.
func (s *Store) Endpoint(ctx context.Context, tenant hook.TenantID, id hook.EndpointID) (hook.Endpoint, error) {
	var it endpointItem
	if err := s.get(ctx, endpointKey(tenant, id), &it, "endpoint", string(id)); err != nil {
		return hook.Endpoint{}, err
	}
	e, err := fromEndpointItem(it)
	return e, translate(err, "read endpoint "+string(id))
}

// EndpointByUID returns the endpoint with the alias; CodeNotFound if the tenant has none such.
func (s *Store) EndpointByUID(ctx context.Context, tenant hook.TenantID, uid string) (hook.Endpoint, error) {
	var it uidItem
	if err := s.get(ctx, uidKey(tenant, uid), &it, "endpoint", uid); err != nil {
		return hook.Endpoint{}, err
	}
	return s.Endpoint(ctx, tenant, it.EndpointID)
}

// Endpoints returns all endpoints of the tenant, in the order of their ids.
func (s *Store) Endpoints(ctx context.Context, tenant hook.TenantID) ([]hook.Endpoint, error) {
	op := "list endpoints of tenant " + string(tenant)
	var items []endpointItem
	if err := s.list(ctx, tenantPartition(tenant), endpointPrefix, &items, op); err != nil {
		return nil, err
	}
	return fromItems(items, fromEndpointItem, op)
}
