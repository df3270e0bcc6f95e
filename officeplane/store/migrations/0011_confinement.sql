-- What holds the processes of a worker that open files. Null: a version that does not tell.

ALTER TABLE workers ADD COLUMN confinement text[];
