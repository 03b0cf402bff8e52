package httpapi

import (
	"context"
	jsonv1 "encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/oasdiff/yaml"

	"surehook.example/surehook/api"
	"surehook.example/surehook/internal/admin/eventtype"
	"surehook.example/surehook/internal/admin/page"
	"surehook.example/surehook/internal/hook"
)

// documentWithTypes responds with the contract as JSON. On request it contains a webhook for each
// event type that is not archived. The route needs a key, because event types are for the
// operator's tenants and not for everybody.
func (h *manage) documentWithTypes(ctx context.Context, c *call) (reply, error) {
	q := query(c, "event_types")
	with := q.flag("event_types")
	if err := refusal(q.wrong); err != nil {
		return reply{}, err
	}
	raw, err := contract()
	if err != nil {
		return reply{}, err
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return reply{}, fmt.Errorf("decode contract: %w", err)
	}
	if with {
		if err := h.addTypes(ctx, doc); err != nil {
			return reply{}, err
		}
	}
	return ok(doc), nil
}

// contract returns the contract as JSON. Reading the YAML takes 50 ms of CPU time.
var contract = sync.OnceValues(func() ([]byte, error) { //nolint:gochecknoglobals // a function of the build
	raw, err := fs.ReadFile(api.Files, "openapi.yaml")
	if err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	var doc map[string]any
	if _, err := yaml.Unmarshal(raw, &doc, yaml.DecodeOpts{}); err != nil {
		return nil, fmt.Errorf("decode contract: %w", err)
	}
	return marshal(doc)
})

// maxTypes bounds the event types in a contract, as bytes in a response of Lambda. The contract
// itself fits into the rest of the 6 MB.
const maxTypes = 5120 << 10

// addTypes adds the webhooks of the event types, in the order of their names, until they would
// exceed maxTypes.
func (h *manage) addTypes(ctx context.Context, doc map[string]any) error {
	webhooks, _ := doc["webhooks"].(map[string]any)
	components, _ := doc["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	event, _ := webhooks["event"].(map[string]any)
	post, _ := event["post"].(map[string]any)
	if schemas == nil || post == nil {
		return fmt.Errorf("read contract: %w", fs.ErrInvalid)
	}
	size := 0
	for cursor, more := "", true; more; {
		list, err := h.Types.List(ctx, eventtype.Filter{}, page.Request{Limit: page.MaxLimit, Cursor: cursor})
		if err != nil {
			return fmt.Errorf("list event types: %w", err)
		}
		for _, t := range list.Data {
			webhook, err := webhookOf(t, post)
			if err != nil {
				return err
			}
			schema, err := schemaOf(t)
			if err != nil {
				return err
			}
			for _, part := range []any{webhook, schema} {
				quoted, err := quotedSize(part)
				if err != nil {
					return err
				}
				size += quoted
			}
			if size > maxTypes {
				return nil
			}
			if schema != nil {
				schemas[schemaName(t)] = schema
			}
			name := t.Name
			for webhooks[name] != nil { // the contract has webhooks of its own
				name += "_"
			}
			webhooks[name] = map[string]any{"post": webhook}
		}
		cursor, more = list.Next, list.Next != ""
	}
	return nil
}

// quotedSize returns how many bytes a part of a response takes in a response of Lambda, where it
// is JSON in a JSON string: up to six bytes for each byte.
func quotedSize(part any) (int, error) {
	text, err := marshal(part)
	if err != nil {
		return 0, err
	}
	quoted, err := jsonv1.Marshal(string(text)) // as Lambda's library does
	return len(quoted), err
}

// schemaName returns the name of the type's schema in the contract. Such a name has no colon: a type
// with one gets another prefix, and escapes, so that no two types share a name.
func schemaName(t hook.EventType) string {
	if strings.Contains(t.Name, ":") {
		return "event-" + strings.NewReplacer("-", "--", ":", "-.").Replace(t.Name)
	}
	return "event." + t.Name
}

func schemaPlace(t hook.EventType) string {
	return "#/components/schemas/" + url.PathEscape(schemaName(t))
}

// schemaOf returns the type's schema as it appears in the contract; nil for none.
func schemaOf(t hook.EventType) (any, error) {
	if len(t.Schema) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	var schema any
	if err := json.Unmarshal(t.Schema, &schema); err != nil {
		return nil, fmt.Errorf("decode schema of event type %s: %w", t.Name, err)
	}
	if object, ok := schema.(map[string]any); ok && object["$id"] != nil {
		return schema, nil // its references are relative to the $id
	}
	return move(schema, schemaPlace(t)), nil
}

// webhookOf returns the operation for the type: the contract's operation for any event, with the
// type's description and example, and a reference to its schema.
func webhookOf(t hook.EventType, post map[string]any) (map[string]any, error) {
	webhook := maps.Clone(post)
	webhook["operationId"] = "receive:" + t.Name
	webhook["summary"] = "Receive " + t.Name
	webhook["description"] = t.Description
	content := map[string]any{}
	if len(t.Schema) > 0 {
		content["schema"] = map[string]any{"$ref": schemaPlace(t)}
	}
	if len(t.Example) > 0 {
		var example any
		if err := json.Unmarshal(t.Example, &example); err != nil {
			return nil, fmt.Errorf("decode example of event type %s: %w", t.Name, err)
		}
		content["example"] = example
	}
	webhook["requestBody"] = map[string]any{"required": true, "content": map[string]any{"application/json": content}}
	return webhook, nil
}

// move returns the schema for another place in a document: references to places in the schema
// begin at the new place. Values in const, enum, default and examples are not schemas.
func move(value any, place string) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = move(value[i], place)
		}
	case map[string]any:
		for name, inner := range value {
			ref, isText := inner.(string)
			switch {
			case name == "const" || name == "enum" || name == "default" || name == "examples":
			case name == "$ref" && isText && (ref == "#" || strings.HasPrefix(ref, "#/")):
				value[name] = place + strings.TrimPrefix(ref, "#")
			default:
				value[name] = move(inner, place)
			}
		}
	}
	return value
}

// docsPolicy lets the page load scripts and styles from this host, and forbids inline ones. The
// style sheet embeds images as data URLs.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docsCaching caches the three files of the page for 5 minutes. After a deployment, a browser may
// mix files of two versions for that long.
const docsCaching = "public, max-age=300"

// docs serves the OpenAPI document and the page with the rendered document, both
// public.
type docs struct{ files fs.FS }

func (h docs) document(context.Context, *call) (reply, error) {
	return h.file("openapi.yaml", "application/yaml")
}

// page responds with the page for the rendered document. A build without the
// renderer responds with a plain page and a link to the document.
func (h docs) page(context.Context, *call) (reply, error) {
	name := "docs/page.html"
	if _, err := fs.Stat(h.files, "docs/dist/swagger-ui-bundle.js"); err != nil {
		name = "docs/plain.html"
	}
	return h.file(name, "text/html; charset=utf-8")
}

// part responds with a script or style sheet of the page.
func (h docs) part(_ context.Context, c *call) (reply, error) {
	switch c.r.PathValue("file") {
	case "start.js":
		return h.file("docs/start.js", "text/javascript; charset=utf-8")
	case "swagger-ui-bundle.js":
		return h.file("docs/dist/swagger-ui-bundle.js", "text/javascript; charset=utf-8")
	case "swagger-ui.css":
		return h.file("docs/dist/swagger-ui.css", "text/css; charset=utf-8")
	}
	return reply{}, hook.NotFound("file")
}

func (h docs) file(name, mediaType string) (reply, error) {
	raw, err := fs.ReadFile(h.files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return reply{}, hook.NotFound("file")
	}
	if err != nil {
		return reply{}, fmt.Errorf("read %s: %w", name, err)
	}
	return reply{status: http.StatusOK, raw: raw}.with("Content-Type", mediaType).with("Cache-Control", docsCaching).
		with("Content-Security-Policy", docsPolicy).with("Referrer-Policy", "no-referrer"), nil
}
