package httpapi

import "reflect"

// viewOf returns the view of a stored record: a view lists what callers see, and each of its fields is
// that of the record with the same name and form. The caller sets the others. Views do not contain
// records, so a new field of a record stays hidden until a view names it.
func viewOf[V, R any](record R) V {
	var view V
	fill(reflect.ValueOf(&view).Elem(), reflect.ValueOf(record))
	return view
}

// each returns the views of a list.
func each[R, V any](records []R, view func(R) V) []V {
	views := make([]V, len(records))
	for i, r := range records {
		views[i] = view(r)
	}
	return views
}

// fill sets the fields of a view, and of the structs embedded in it.
func fill(view, record reflect.Value) {
	for i := range view.NumField() {
		field, of := view.Field(i), view.Type().Field(i)
		value := record.FieldByName(of.Name)
		switch {
		case of.Anonymous:
			fill(field, record)
		case !value.IsValid():
		case field.Kind() == reflect.Struct && !value.CanConvert(field.Type()):
			fill(field, value)
		case sameForm(field.Type(), value):
			field.Set(value.Convert(field.Type()))
		case field.Kind() == reflect.Pointer && sameForm(field.Type().Elem(), value):
			field.Set(reflect.New(field.Type().Elem()))
			field.Elem().Set(value.Convert(field.Type().Elem()))
		}
	}
}

func sameForm(t reflect.Type, v reflect.Value) bool { return t.Kind() == v.Kind() && v.CanConvert(t) }
