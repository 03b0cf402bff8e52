package strict

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Services returns the services whose requests are checked, by their names in
// botocore. Surehook's functions call them, and Lambda, whose only call has no rules
// here.
func Services() []string {
	return []string{"dynamodb", "events", "kinesis", "kms", "scheduler", "secretsmanager", "sns", "sqs", "sts"}
}

// Rulebook holds the published rules of AWS.
type Rulebook struct {
	models   map[string]*model // by the service's name in signatures
	reserved map[string]bool   // words of DynamoDB's expressions, in capitals
}

// model is a service model of botocore, service-2.json.
type model struct {
	Metadata struct {
		EndpointPrefix string `json:"endpointPrefix"`
		Protocol       string `json:"protocol"`
		SigningName    string `json:"signingName"`
		TargetPrefix   string `json:"targetPrefix"`
		XMLNamespace   string `json:"xmlNamespace"`
	} `json:"metadata"`
	Operations map[string]*operation `json:"operations"`
	Shapes     map[string]*shape     `json:"shapes"`
}

type operation struct {
	HTTP struct {
		Method     string `json:"method"`
		RequestURI string `json:"requestUri"`
	} `json:"http"`
	Input *reference `json:"input"`

	path *regexp.Regexp // matches RequestURI, with a group for each member; of rest-json only
}

// reference is the use of a shape, as a member for example.
type reference struct {
	Shape        string `json:"shape"`
	Location     string `json:"location"`     // uri, querystring, header; empty: the body
	LocationName string `json:"locationName"` // the name on the wire, if not the member's
}

// shape is a type of a service.
type shape struct {
	Type      string               `json:"type"`
	Required  []string             `json:"required"`
	Members   map[string]reference `json:"members"` // of a structure
	Member    *reference           `json:"member"`  // of a list
	Key       *reference           `json:"key"`     // of a map
	Value     *reference           `json:"value"`
	Min       *float64             `json:"min"` // of a number, a length or a size
	Max       *float64             `json:"max"`
	Pattern   string               `json:"pattern"`
	Enum      []string             `json:"enum"`
	Flattened bool                 `json:"flattened"`

	pattern *regexp.Regexp
}

// reservedFile is Moto's list of DynamoDB's reserved words.
const reservedFile = "moto/dynamodb/parsing/reserved_keywords.txt"

// Load reads the rules from the folder of the installed Python packages: the models
// from botocore, and the reserved words of DynamoDB from Moto.
func Load(packages fs.FS) (*Rulebook, error) {
	b := &Rulebook{models: map[string]*model{}, reserved: map[string]bool{}}
	for _, service := range Services() {
		m, err := loadModel(packages, service)
		if err != nil {
			return nil, fmt.Errorf("read the model of %s: %w", service, err)
		}
		name := m.Metadata.SigningName
		if name == "" {
			name = m.Metadata.EndpointPrefix
		}
		b.models[name] = m
	}
	words, err := fs.ReadFile(packages, reservedFile)
	if err != nil {
		return nil, fmt.Errorf("read the reserved words of DynamoDB: %w", err)
	}
	for word := range strings.FieldsSeq(string(words)) {
		b.reserved[strings.ToUpper(word)] = true
	}
	return b, nil
}

func loadModel(packages fs.FS, service string) (*model, error) {
	base := path.Join("botocore", "data", service)
	versions, err := fs.ReadDir(packages, base)
	if err != nil {
		return nil, fmt.Errorf("find it: %w", err)
	}
	if len(versions) == 0 {
		return nil, fmt.Errorf("%s is empty", base)
	}
	latest := versions[len(versions)-1].Name() // the names are dates, in order
	raw, err := readModel(packages, path.Join(base, latest, "service-2.json"))
	if err != nil {
		return nil, err
	}
	m := &model{}
	if err := json.Unmarshal(raw, m); err != nil {
		return nil, fmt.Errorf("decode it: %w", err)
	}
	return m, m.compile()
}

// readModel reads the file, or its compressed form: botocore has one of them.
func readModel(packages fs.FS, name string) (raw []byte, err error) {
	raw, err = fs.ReadFile(packages, name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return raw, err
	}
	file, err := packages.Open(name + ".gz")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("decompress %s: %w", name, err)
	}
	return io.ReadAll(unzipped)
}

// compile compiles the paths of the operations, and the patterns of the shapes in
// their requests.
func (m *model) compile() error {
	seen := map[string]bool{}
	for name, op := range m.Operations {
		if m.Metadata.Protocol == "rest-json" {
			op.path = pathPattern(op.HTTP.RequestURI)
		}
		if op.Input == nil {
			continue
		}
		if err := m.compilePatterns(op.Input.Shape, seen); err != nil {
			return fmt.Errorf("operation %s: %w", name, err)
		}
	}
	return nil
}

func (m *model) compilePatterns(name string, seen map[string]bool) error {
	if seen[name] {
		return nil
	}
	seen[name] = true
	s := m.Shapes[name]
	if s == nil {
		return fmt.Errorf("shape %s is missing", name)
	}
	if s.Pattern != "" {
		var err error
		if s.pattern, err = wholePattern(s.Pattern); err != nil {
			return fmt.Errorf("pattern of shape %s: %w", name, err)
		}
	}
	for _, ref := range s.references() {
		if err := m.compilePatterns(ref.Shape, seen); err != nil {
			return err
		}
	}
	return nil
}

func (s *shape) references() []reference {
	var refs []reference
	for _, ref := range s.Members {
		refs = append(refs, ref)
	}
	for _, ref := range []*reference{s.Member, s.Key, s.Value} {
		if ref != nil {
			refs = append(refs, *ref)
		}
	}
	return refs
}

// wholePattern compiles the pattern of a shape. Services match it with whole values.
// Models use Java's regular expressions, so escapes and bounds that Go lacks are
// translated: a bound above 1,000 becomes no bound, because lengths are checked
// separately. A pattern with a look-ahead has no equivalent in Go: the result is nil.
func wholePattern(pattern string) (*regexp.Regexp, error) {
	if strings.Contains(pattern, "(?=") || strings.Contains(pattern, "(?!") {
		return nil, nil //nolint:nilnil // the values are not checked
	}
	translated := strings.NewReplacer(
		`\uD800\uDC00-\uDBFF\uDFFF`, `\x{10000}-\x{10FFFF}`, // surrogates: all characters beyond 16 bits
		`\p{Print}`, `[ -~]`,
	).Replace(pattern)
	translated = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`).ReplaceAllString(translated, `\x{$1}`)
	translated = regexp.MustCompile(`\{(\d+),(\d+)\}`).ReplaceAllStringFunc(translated, func(repetition string) string {
		low, high, _ := strings.Cut(strings.Trim(repetition, "{}"), ",")
		if n, err := strconv.Atoi(high); err == nil && n > 1000 {
			return "{" + low + ",}"
		}
		return repetition
	})
	return regexp.Compile("^(?:" + translated + ")$")
}

// pathPattern turns a path such as /schedules/{Name} into a pattern with named
// groups.
func pathPattern(uri string) *regexp.Regexp {
	uri, _, _ = strings.Cut(uri, "?")
	pattern := regexp.MustCompile(`\\\{(\w+)(\\\+)?\\\}`).ReplaceAllStringFunc(regexp.QuoteMeta(uri), func(label string) string {
		name := strings.Trim(label, `\{}+`)
		if strings.Contains(label, "+") {
			return "(?P<" + name + ">.+)"
		}
		return "(?P<" + name + ">[^/]+)"
	})
	return regexp.MustCompile("^" + pattern + "$")
}

// wire returns the name of the member in requests.
func (r reference) wire(member string) string {
	if r.LocationName != "" {
		return r.LocationName
	}
	return member
}

// names returns the members' names in a fixed order.
func (s *shape) names() []string {
	names := make([]string, 0, len(s.Members))
	for name := range s.Members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
