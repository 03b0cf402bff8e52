package httpapi

import "surehook.example/surehook/internal/hook"

// destinationBody replaces the destination as a whole. Absent fields are nil.
type destinationBody struct {
	Type    *string `json:"type"`
	RoleARN *string `json:"role_arn"`
	Source  *string `json:"source"`
}

// destination translates the body. Package hook checks the content.
func (b destinationBody) destination() (d hook.Destination, wrong []hook.FieldError) {
	if b.Type == nil {
		return d, []hook.FieldError{{Field: "destination.type", Message: "is missing"}}
	}
	d.Type, wrong = choose("destination.type", *b.Type, append(hook.DestinationTypes(), hook.DestinationHTTP)...)
	set(&d.RoleARN, b.RoleARN)
	set(&d.Source, b.Source)
	return d, wrong
}

// destinationView is the destination in a response.
type destinationView struct {
	Type       string `json:"type"`
	RoleARN    string `json:"role_arn,omitzero"`
	Source     string `json:"source,omitzero"`
	ExternalID string `json:"external_id"`
}

// viewDestination returns nil for an endpoint that never had an AWS destination.
func viewDestination(d hook.Destination) *destinationView {
	if d.ExternalID == "" {
		return nil
	}
	return &destinationView{Type: d.Type.String(), RoleARN: d.RoleARN, Source: d.Source, ExternalID: d.ExternalID}
}

// destinationsView holds what a customer needs to know to create the role of an AWS destination.
type destinationsView struct {
	Types     []string `json:"types"`
	RolePath  string   `json:"role_path"`
	Principal string   `json:"principal"`
}

// viewDestinations returns nil if the deployment has no AWS destinations.
func viewDestinations(d hook.Destinations) *destinationsView {
	if d.RolePath == "" {
		return nil
	}
	types := make([]string, 0, len(hook.DestinationTypes()))
	for _, t := range hook.DestinationTypes() {
		types = append(types, t.String())
	}
	return &destinationsView{Types: types, RolePath: d.RolePath, Principal: d.Principal}
}
