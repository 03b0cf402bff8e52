package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/hook"
)

// identifier returns the caller named by an Authorization header.
type identifier interface {
	Identify(ctx context.Context, header string) (hook.Principal, error)
}

type handler struct{ authenticator identifier }

// Handle authenticates one request for API Gateway. If the key or token is malformed, unknown or
// expired, API Gateway answers with 403 and invokes no other function (docs/adr/18). A person
// without a role passes, so that the route can answer with the reason.
func (h *handler) Handle(ctx context.Context, e events.APIGatewayV2CustomAuthorizerV2Request) (events.APIGatewayV2CustomAuthorizerSimpleResponse, error) {
	header := strings.Join(e.IdentitySource, ",") // normally one value; two joined values are not a valid key
	var response events.APIGatewayV2CustomAuthorizerSimpleResponse
	principal, err := h.authenticator.Identify(ctx, header)
	switch {
	case err == nil:
		response.IsAuthorized = true
		response.Context = apigateway.Authorizer(principal)
	case hook.CodeOf(err) != hook.CodeUnauthorized:
		return events.APIGatewayV2CustomAuthorizerSimpleResponse{}, fmt.Errorf("identify caller: %w", err)
	}
	return response, nil
}
