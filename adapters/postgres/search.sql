-- The best chunks of a notebook's ready sources, best first: one statement, both sides exact.
--
-- near     the vector side: the cosine of every chunk in scope
-- found    the postings of the question's words; document frequencies and their total are those
--          of the scope; what may be half of a compound counts half
-- held     the chunks that meet a condition of the question: a phrase in quotes (they come first)
--          or a word with a minus (they are left out)
-- scored   every other chunk with both its sides: the cosine, and BM25 where it holds a word of
--          the question
-- scales   how both sides are spread over them; cov is how much of the question (by idf) the best
--          keyword hit holds, 0 across languages, so that a keyword side which understood little
--          weighs little
-- ranked   the candidates of both sides, fused
-- admitted those without the chunks of generated documents that have no slot
-- placed   the k of them: in the last quarter, further chunks of a source give way to the best chunk
--          of each other source that is about as near as the nearest
--
-- The planner takes the rows of near and of the postings for far fewer than they are. They meet
-- once, in scored, by grouping: no join of them can go wrong. Everything after it reads few rows.
with scope as materialized (
    select s.id as source_id, s.version_id, s.title, s.kind = 'generated' as is_generated,
        v.chunk_count
    from notebook_sources l
    join sources s on s.id = l.source_id
    join source_versions v on v.id = s.version_id
    where l.notebook_id = :notebook_id
        and (cast(:source_ids as uuid[]) is null or s.id = any (cast(:source_ids as uuid[])))
        and (cast(:about as uuid) is null or s.id = :about)
),
near as (
    select v.version_id, v.ordinal, 1 - (v.embedding <=> cast(:vector as halfvec)) as similarity
    from chunk_vectors v
    where v.version_id = any (array(select version_id from scope)) and v.set_id = :set_id
),
size as materialized (
    select sum(chunk_count)::float8 as n from scope
),
found as materialized (
    select word, version_id, ordinals, weights,
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
    select version_id, ordinal, max(similarity) as similarity, sum(bm25) as bm25
    from (
        select version_id, ordinal, similarity, null::float8 as bm25 from near
        union all
        select version_id, ordinal, null, idf * weight
        from (
            select version_id, idf, unnest(ordinals) as ordinal, unnest(weights) as weight
            from found
        ) as posting
    ) as side
    group by version_id, ordinal
    having max(similarity) is not null
        and (version_id, ordinal) not in (
            select version_id, ordinal from held where (cast(:excludes as bool[]))[number])
),
wordiest as materialized (
    select *
    from scored
    where bm25 is not null and :mode <> 'vector'
    order by bm25 desc, version_id, ordinal
    limit :candidates
),
scales as materialized (
    select avg(similarity) as mean,
        coalesce(nullif(stddev_pop(similarity), 0), 1) as spread,
        coalesce(sum(bm25), 0) / count(*) as word_mean,
        coalesce(nullif(sqrt(greatest(
            sum(bm25 * bm25) / count(*) - (sum(bm25) / count(*)) ^ 2, 0)), 0), 1) as word_spread,
        coalesce(least(1, (
            select sum(idf)
            from found
            join (select version_id, ordinal from wordiest limit 1) as best using (version_id)
            where best.ordinal = any (ordinals)
        ) / nullif((select mass from asked), 0)), 0) as cov
    from scored
    having count(*) > 0
),
nearest as materialized (
    select *, row_number() over (order by similarity desc, version_id, ordinal) as near_rank
    from (
        select * from scored order by similarity desc, version_id, ordinal limit :reach
    ) as within_reach
),
pool as (
    select version_id, ordinal, similarity, bm25,
        max(near_rank) as near_rank, max(word_rank) as word_rank
    from (
        select version_id, ordinal, similarity, bm25, near_rank, null::bigint as word_rank
        from nearest
        where :mode <> 'keyword'
            and (near_rank <= :candidates or cast(:diversity as float8) > 0
                and near_rank in (select min(near_rank) from nearest group by version_id))
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
ranked as (
    select version_id, ordinal, similarity, coalesce(quoted.phrases, 0) as phrases,
        scope.is_generated,
        case :mode
            when 'vector' then similarity
            when 'keyword' then coalesce(bm25, 0)
            when 'rrf' then coalesce(1.0 / (:rrf_k + near_rank), 0)
                + coalesce(1.0 / (:rrf_k + word_rank), 0)
            else 0.7 * (similarity - scales.mean) / scales.spread
                + 0.3 * scales.cov * (coalesce(bm25, 0) - scales.word_mean) / scales.word_spread
        end as score
    from pool
    join scope using (version_id)
    left join quoted using (version_id, ordinal)
    cross join scales
    -- The floor is for chunks that share no word with the question, and for generated ones.
    where similarity >= :floor
        or (bm25 is not null and :mode <> 'vector' and not scope.is_generated)
),
admitted as (
    select *, row_number() over (order by phrases desc, score desc, version_id, ordinal) as place
    from (
        select *, count(*) filter (where is_generated) over (
            order by phrases desc, score desc, version_id, ordinal rows unbounded preceding)
            as generated_so_far
        from ranked
    ) as in_order
    where not is_generated or generated_so_far <= :generated_slots
),
placed as (
    select *
    from (
        select admitted.*,
            row_number() over (partition by version_id order by place) as place_in_source,
            max(similarity) over () - :diversity * scales.spread as near_enough
        from admitted cross join scales
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
