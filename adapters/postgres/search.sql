-- The best chunks of a notebook's ready sources, best first: one statement, both sides exact.
--
-- near     the vector side: the cosine of every chunk in scope
-- found    the postings of the question's words; document frequencies and their total are those
--          of the scope; what may be half of a compound counts half
-- lexical  the keyword side: BM25 of every chunk that holds a word of the question
-- cov      how much of the question (by idf) the best keyword hit holds; 0 across languages, so
--          that a keyword side which understood little weighs little
-- held     the chunks that meet a condition of the question: a phrase in quotes (they come first)
--          or a word with a minus (they are left out)
-- ranked   the candidates of both sides, fused
-- admitted those without the chunks of generated documents that have no slot
-- placed   the k of them: in the last quarter, further chunks of a source give way to the best chunk
--          of each other source that is about as near as the nearest
--
-- The planner takes the rows of near and lexical for far fewer than they are. They meet once, in
-- scored, where it hashes them in any case; everything after it reads single rows.
with scope as materialized (
    select s.id as source_id, s.version_id, s.title, s.kind = 'generated' as is_generated
    from notebook_sources l
    join sources s on s.id = l.source_id
    where l.notebook_id = :notebook_id
        and s.version_id is not null
        and (cast(:source_ids as uuid[]) is null or s.id = any (cast(:source_ids as uuid[])))
        and (cast(:about as uuid) is null or s.id = :about)
),
near as materialized (
    select v.version_id, v.ordinal, 1 - (v.embedding <=> cast(:vector as halfvec)) as similarity
    from chunk_vectors v
    where v.version_id = any (array(select version_id from scope)) and v.set_id = :set_id
),
size as materialized (
    select count(*)::float8 as n,
        avg(similarity) as mean,
        coalesce(nullif(stddev_pop(similarity), 0), 1) as spread
    from near
),
found as materialized (
    select word, term, version_id, ordinals, weights,
        share * ln(1 + (n - df + 0.5) / (df + 0.5)) as idf
    from (
        select q.word, q.share, p.term, p.version_id, p.ordinals, p.weights,
            sum(cardinality(p.ordinals)) over (partition by q.word, p.term)::float8 as df
        from unnest(cast(:terms as text[]), cast(:words as int[]), cast(:shares as float8[]))
            as q (term, word, share)
        join postings p on p.term = q.term
            and p.version_id = any (array(select version_id from scope))
    ) as counted, size
),
asked as (
    select sum(coalesce(known.idf, ln(1 + (size.n + 0.5) / 0.5))) as mass
    from (select distinct unnest(cast(:words as int[])) as word) as question
    cross join size
    left join (select word, max(idf) as idf from found group by word) as known using (word)
),
lexical as materialized (
    select version_id, ordinal, sum(idf * weight) as bm25, sum(idf) as mass
    from (
        select version_id, idf, unnest(ordinals) as ordinal, unnest(weights) as weight from found
    ) as posting
    group by version_id, ordinal
),
keywords as materialized (
    select coalesce(sum(bm25), 0) / nullif(size.n, 0) as mean,
        coalesce(nullif(sqrt(greatest(
            sum(bm25 * bm25) / nullif(size.n, 0) - (sum(bm25) / nullif(size.n, 0)) ^ 2, 0)), 0), 1)
            as spread,
        coalesce(least(1, (select mass from lexical order by bm25 desc, version_id, ordinal limit 1)
            / nullif((select mass from asked), 0)), 0) as cov
    from lexical right join size on true
    group by size.n
),
held as materialized (
    select version_id, ordinal, number
    from (
        select p.version_id, unnest(p.ordinals) as ordinal, c.number, c.part
        from unnest(cast(:required as text[]), cast(:parts as int[]), cast(:numbers as int[]))
            as c (term, part, number)
        join postings p on p.term = c.term
            and p.version_id = any (array(select version_id from scope))
    ) as part
    group by version_id, ordinal, number
    having count(distinct part) = (cast(:sizes as int[]))[number]
        and ((cast(:patterns as text[]))[number] = '' or exists (
            select from chunks c
            where c.version_id = part.version_id and c.ordinal = part.ordinal
                and c.text ~ (cast(:patterns as text[]))[number]))
),
quoted as materialized (
    select version_id, ordinal, count(*) as phrases
    from held
    where not (cast(:excludes as bool[]))[number]
    group by version_id, ordinal
),
scored as materialized (
    select version_id, ordinal, near.similarity, lexical.bm25
    from near left join lexical using (version_id, ordinal)
    where (version_id, ordinal) not in (
        select version_id, ordinal from held where (cast(:excludes as bool[]))[number])
),
nearest as (
    select *,
        row_number() over (order by similarity desc, version_id, ordinal) as near_rank,
        row_number() over (
            partition by version_id order by similarity desc, ordinal) as rank_in_source
    from (
        select * from scored order by similarity desc, version_id, ordinal limit :reach
    ) as within_reach
),
wordiest as (
    select *
    from scored
    where bm25 is not null and :mode <> 'vector'
    order by bm25 desc, version_id, ordinal
    limit :candidates
),
pool as (
    select version_id, ordinal, similarity, bm25,
        max(near_rank) as near_rank, max(word_rank) as word_rank
    from (
        select version_id, ordinal, similarity, bm25, near_rank, null::bigint as word_rank
        from nearest
        where (near_rank <= :candidates or (rank_in_source = 1 and cast(:diversity as float8) > 0))
            and :mode <> 'keyword'
        union all
        select *, null, row_number() over (order by bm25 desc, version_id, ordinal)
        from wordiest
        union all
        (select version_id, ordinal, similarity, bm25, null, null
        from quoted join scored using (version_id, ordinal)
        order by phrases desc, similarity desc, version_id, ordinal
        limit :candidates)
    ) as candidates
    group by version_id, ordinal, similarity, bm25
),
ranked as materialized (
    select version_id, ordinal, similarity, coalesce(quoted.phrases, 0) as phrases,
        scope.is_generated,
        case :mode
            when 'vector' then similarity
            when 'keyword' then coalesce(bm25, 0)
            when 'rrf' then coalesce(1.0 / (:rrf_k + near_rank), 0)
                + coalesce(1.0 / (:rrf_k + word_rank), 0)
            else 0.7 * (similarity - size.mean) / size.spread
                + 0.3 * keywords.cov * (coalesce(bm25, 0) - keywords.mean) / keywords.spread
        end as score
    from pool
    join scope using (version_id)
    left join quoted using (version_id, ordinal)
    cross join size
    cross join keywords
    -- The floor is for chunks that share no word with the question, and for generated ones.
    where similarity >= :floor
        or (bm25 is not null and :mode <> 'vector' and not scope.is_generated)
),
admitted as (
    select *
    from (
        select *, row_number() over (
            partition by is_generated order by phrases desc, score desc, version_id, ordinal)
            as place_in_kind
        from ranked
    ) as in_kind
    where not is_generated or place_in_kind <= :generated_slots
),
placed as materialized (
    select *
    from (
        select *,
            row_number() over (order by phrases desc, score desc, version_id, ordinal) as place,
            row_number() over (
                partition by version_id order by phrases desc, score desc, ordinal)
                as place_in_source,
            max(similarity) over () - :diversity * size.spread as near_enough
        from admitted cross join size
    ) as in_source
    order by
        case
            when place <= cast(:k as int) - cast(:k as int) / 4 or phrases > 0 then 0
            when :diversity > 0 and place_in_source = 1
                and (place <= cast(:k as int) or similarity >= near_enough) then 1
            else 2
        end,
        place
    limit :k
)
select c.id as chunk_id, scope.source_id, placed.version_id, scope.title as source_title,
    c.passage, c.page, c.start_at, c.language, c.text,
    cast(placed.similarity as real) as similarity, -- as answers keep it
    placed.score
from placed
join scope using (version_id)
join chunks c using (version_id, ordinal)
order by placed.is_generated, placed.phrases desc, placed.score desc, placed.version_id,
    placed.ordinal
